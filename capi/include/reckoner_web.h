/* SPDX-License-Identifier: MIT
 *
 * Players in browsers, for a server with the C API: it listens for HTTP and WebSockets on a TCP port, beside
 * its UDP port. Native players and players in browsers then play in one server.
 *
 *   reckoner_web_config web;
 *   reckoner_web_config_init(&web, sizeof web);
 *   web.port = 8080;
 *   web.host = "127.0.0.1";
 *   config.web = &web;
 *   reckoner_server_create(&config, &server, why, sizeof why);
 *
 * This header is installed with a library that was built with RECKONER_C_WEB. Every library has the
 * functions. In one that was built without, reckoner_server_create() refuses a configuration with `web` and
 * says why. The conventions of reckoner.h apply.
 */
#ifndef RECKONER_WEB_H
#define RECKONER_WEB_H

#include <reckoner.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The settings of WebConfig in C++. The key and the tokens are those of the server. */
struct reckoner_web_config {
  uint32_t struct_size;
  uint16_t port; /* TCP port; 0: any free one, see reckoner_web_port() */
  uint16_t reserved;
  const char* host;           /* address to listen on; null: all addresses of this machine */
  const char* certificate;    /* PEM file with the certificate and those of its issuers; null: no TLS */
  const char* key;            /* PEM file with the private key; null: it is in the file of the certificate */
  const char* folder;         /* files to serve, for example the game's page; null: only the WebSocket */
  const char* front_page;     /* the file in `folder` that "/" is; null: "index.html" */
  const char* content_policy; /* Content-Security-Policy of the page; null: it loads nothing from elsewhere */
  const char* const* origins; /* further origins of pages that may connect: "https://game.example" */
  uint32_t origin_count;      /* number of origins */
  int32_t without_origin;     /* 1: clients that name no origin may connect, too; they are no browsers */
  int32_t tls_ends_at_proxy;  /* 1: a trusted proxy does TLS, so tokens may arrive unencrypted */
  uint32_t max_peers;         /* clients at once */
  uint32_t max_peers_per_host;       /* of them, from one IPv4 address or IPv6 /64 */
  uint32_t max_connections;          /* TCP connections at once, also those that load files */
  uint32_t max_connections_per_host; /* of them, from one IPv4 address or IPv6 /64 */
  int32_t data_channels;             /* 1: pages can move to data channels (WebRTC) on a UDP port */
  double join_s; /* a connection that has not joined, or has not got its file, is closed after this time */
  const char* channel_address;  /* IP address at which browsers reach that port; null: that of the TCP port */
  uint16_t channel_port;        /* UDP port; 0: any free one, see reckoner_web_channels() */
  uint16_t channel_public_port; /* UDP port at channel_address, if a NAT has another one; else 0 */
  uint16_t reserved3, reserved4;
};
RECKONER_C_API void reckoner_web_config_init(reckoner_web_config* config, uint32_t struct_size);

/* The TCP port in use; 0 for null, and for a server that does not listen for browsers. */
RECKONER_C_API uint16_t reckoner_web_port(const reckoner_server* server);

/* 1 in `in_browser` if the client came through the WebSocket, else 0. RECKONER_ERROR_UNKNOWN if it has no
 * connection. */
RECKONER_C_API reckoner_result reckoner_web_has_client(const reckoner_server* server,
                                                       reckoner_client_id client, int32_t* in_browser);

/* The numbers of clients, and of TCP connections, also those that load files. RECKONER_ERROR_REFUSED if the
 * server does not listen for browsers. */
RECKONER_C_API reckoner_result reckoner_web_counts(const reckoner_server* server, uint32_t* peers,
                                                   uint32_t* connections);

/* The UDP port of the data channels, 0 if there are none, and how many are open. RECKONER_ERROR_REFUSED if
 * the server does not listen for browsers. */
RECKONER_C_API reckoner_result reckoner_web_channels(const reckoner_server* server, uint16_t* port,
                                                     uint32_t* open);

#ifdef __cplusplus
}
#endif

#endif
