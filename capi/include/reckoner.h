/* SPDX-License-Identifier: MIT
 *
 * The C API of Reckoner, for C and every language that can call C: shows remote moving entities smoothly over
 * a bad network.
 *
 * Conventions
 * - The caller passes the time: seconds on any monotonic clock. The library reads no clock.
 * - SI units and right-handed coordinates. Orientations are unit quaternions x, y, z, w that rotate from body
 *   to world. Angular velocities are in rad/s about the world's axes.
 * - Functions return RECKONER_OK (0), RECKONER_NOTHING (1: there is no result, which is not an error), or a
 *   negative error; see reckoner_error_text(). No exception leaves the library. A failed call changes
 *   nothing. After RECKONER_ERROR_UNKNOWN and RECKONER_ERROR_REFUSED, reckoner_server_call_error() or
 *   reckoner_client_call_error() says more.
 * - Sized structs begin with struct_size. The _init() function of a struct sets it, and the defaults: pass
 *   sizeof. Later versions only append members, so that programs work with newer libraries without being
 *   compiled again. All elements of an array have the same struct_size. Structs without struct_size never
 *   change. A struct_size that no version of the struct has, for example because it was not set, gives
 *   RECKONER_ERROR_STRUCT. After an _init() with such a size, struct_size is 0.
 * - docs/REFERENCE.md lists the default and the range of every setting.
 * - Texts are UTF-8 and end with 0. A pointer that the library returns is valid until the next non-const call
 *   with the same handle, unless its comment says otherwise.
 * - Use a handle in one thread at a time; different handles are independent. Functions refuse null handles;
 *   destroying null does nothing.
 * - The network is UDP, over IPv4 and IPv6.
 */
#ifndef RECKONER_H
#define RECKONER_H

#include <stddef.h>
#include <stdint.h>

#if !defined(_WIN32)
#define RECKONER_C_API __attribute__((visibility("default")))
#elif defined(reckoner_c_EXPORTS)
#define RECKONER_C_API __declspec(dllexport)
#else
#define RECKONER_C_API __declspec(dllimport)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Results ------------------------------------------------------------------------------------------ */

typedef int32_t reckoner_result;
enum reckoner_result_code {
  RECKONER_OK = 0,
  RECKONER_NOTHING = 1,         /* there is no event, message or value */
  RECKONER_ERROR_ARGUMENT = -1, /* a null pointer, or an invalid value */
  RECKONER_ERROR_STRUCT = -2,   /* invalid struct_size, or members that this library does not know */
  RECKONER_ERROR_UNKNOWN = -3,  /* unknown entity, client, route or field */
  RECKONER_ERROR_REFUSED = -4,  /* valid, but not possible in this state */
  RECKONER_ERROR_NETWORK = -5,  /* no socket */
  RECKONER_ERROR_MEMORY = -6,   /* out of memory */
  RECKONER_ERROR_CAPACITY = -7, /* the caller's array is too short; `count` is the required length */
  RECKONER_ERROR_INTERNAL = -8  /* a bug in the library */
};

/* The meaning of a result, in English. Never null; always valid. */
RECKONER_C_API const char* reckoner_error_text(reckoner_result result);

/* The version of the library, "0.2.0", and of the protocol, which must be the same at both ends. */
RECKONER_C_API const char* reckoner_version(void);
RECKONER_C_API uint32_t reckoner_protocol_version(void);
/* Whether a program that was written for `version` of this header, "0.2.0", works with this library: the
 * library must not be older, and programs for versions before 0.2.0 must be changed. Bindings call it when
 * they load the library. RECKONER_ERROR_STRUCT if not: then it writes the reason to `why`, if that is not
 * null. */
RECKONER_C_API reckoner_result reckoner_check_version(const char* version, char* why, size_t why_size);

/* The log of a server or a client. The library calls the function in the thread that called one of the
 * handle's functions. The function must not call the library and must return normally. Its arguments are
 * valid only during the call. */
enum reckoner_log_level {
  RECKONER_LOG_DEBUG = 0,
  RECKONER_LOG_INFO = 1,
  RECKONER_LOG_WARNING = 2,
  RECKONER_LOG_ERROR = 3
};
enum reckoner_log_type {
  RECKONER_LOG_BOOLEAN = 0,
  RECKONER_LOG_INTEGER = 1,
  RECKONER_LOG_UNSIGNED = 2,
  RECKONER_LOG_REAL = 3,
  RECKONER_LOG_TEXT = 4
};
typedef struct reckoner_log_field {
  const char* name;
  int32_t type; /* RECKONER_LOG_BOOLEAN...: selects the member */
  uint32_t reserved;
  int64_t integer;           /* RECKONER_LOG_INTEGER, and RECKONER_LOG_BOOLEAN as 0 or 1 */
  uint64_t unsigned_integer; /* RECKONER_LOG_UNSIGNED */
  double real;               /* RECKONER_LOG_REAL */
  const char* text;          /* RECKONER_LOG_TEXT; null for the others */
} reckoner_log_field;
typedef struct reckoner_log_record {
  uint32_t struct_size; /* of this library's version: do not read beyond it */
  int32_t level;
  const char* event; /* a fixed text: "client refused" */
  const char* line;  /* the event with its values: "client refused reason=full peer=3" */
  const reckoner_log_field* fields;
  uint32_t field_count;
  uint32_t reserved;
} reckoner_log_record;
typedef void (*reckoner_log_function)(void* user, const reckoner_log_record* record);

/* Sets the allocator of the network transport for the whole process; null: malloc and free. Everything else
 * uses C++'s operator new. RECKONER_ERROR_REFUSED while a server or a client exists. */
RECKONER_C_API reckoner_result reckoner_set_allocator(void* (*allocate)(size_t bytes),
                                                      void (*release)(void* memory));

/* ---- Plain values ------------------------------------------------------------------------------------- */

typedef uint64_t reckoner_entity;    /* 0: none. An old id never means another entity */
typedef uint32_t reckoner_client_id; /* the server's id of a client; 0: none. Never used again */
typedef uint32_t reckoner_route;     /* 0: none */

/* Position and motion at one instant. */
typedef struct reckoner_state {
  double position[3];        /* m */
  float velocity[3];         /* m/s */
  float acceleration[3];     /* m/s^2 */
  float orientation[4];      /* x, y, z, w */
  float angular_velocity[3]; /* rad/s */
} reckoner_state;

/* At rest at the origin, with the identity orientation. */
RECKONER_C_API void reckoner_state_init(reckoner_state* state);

typedef struct reckoner_pose {
  double position[3];   /* m */
  float orientation[4]; /* x, y, z, w */
} reckoner_pose;

/* The value of a user field. */
enum reckoner_value_type {
  RECKONER_VALUE_BOOLEAN = 0,
  RECKONER_VALUE_INTEGER = 1,
  RECKONER_VALUE_REAL = 2,
  RECKONER_VALUE_BLOB = 3
};
typedef struct reckoner_value {
  int32_t type;       /* RECKONER_VALUE_BOOLEAN...: selects the member */
  uint32_t blob_size; /* RECKONER_VALUE_BLOB, at most 64 */
  int64_t integer;    /* RECKONER_VALUE_INTEGER, and RECKONER_VALUE_BOOLEAN as 0 or 1 */
  double real;        /* RECKONER_VALUE_REAL */
  uint8_t blob[64];
} reckoner_value;

/* Transforms a state from the coordinates of a moving frame (a passenger on a ship) into those in which the
 * frame's own state is given, and back. Includes velocity and acceleration of the rotating frame. The output
 * may be one of the inputs. */
RECKONER_C_API void reckoner_out_of_frame(const reckoner_state* frame, const reckoner_state* local,
                                          reckoner_state* outer);
RECKONER_C_API void reckoner_into_frame(const reckoner_state* frame, const reckoner_state* outer,
                                        reckoner_state* local);

/* Game time as a function of real time, for slow motion and pauses. Pass game time instead of real time to
 * servers and clients. A change of the scale is continuous in time and in scale, so that shown positions and
 * velocities are continuous. Server and clients must change together: announce the server time of the change
 * in a reliable message, and let each client change when its reckoner_client_server_time() reaches it.
 * Everything in Reckoner is then in game time, including velocities. */
typedef struct reckoner_clock {
  double real_s;     /* real time at which the newest change began */
  double game_s;     /* game time at that moment */
  double scale;      /* game seconds per real second at that moment */
  double next_scale; /* scale after the change */
  double ease_s;     /* duration of the change, s of real time */
} reckoner_clock;
/* Scale 1; game time is `game_s` at `real_s`. */
RECKONER_C_API void reckoner_clock_init(reckoner_clock* clock, double real_s, double game_s);
/* Changes the scale to 0...100, linearly from `real_s` on during `ease_s` (0.25 is a good value; 0: at once,
 * with a jump in velocity). */
RECKONER_C_API reckoner_result reckoner_clock_set_scale(reckoner_clock* clock, double scale, double real_s,
                                                        double ease_s);
/* Game time and scale at a real time; 0 for null. */
RECKONER_C_API double reckoner_clock_at(const reckoner_clock* clock, double real_s);
RECKONER_C_API double reckoner_clock_scale_at(const reckoner_clock* clock, double real_s);
/* Real time at which game time is `game_s`, to sleep until a tick. Infinity if game time stops before. */
RECKONER_C_API double reckoner_clock_real_time_of(const reckoner_clock* clock, double game_s);

/* The name of a refusal reason, for example "malformed". Reasons are numbered from 0; null after the last
 * one. Later versions append reasons. */
RECKONER_C_API const char* reckoner_refusal_name(uint32_t reason);

/* ---- Archetypes: the same, in the same order, on the server and on every client ----------------------- */

/* A user field: a value that every entity of an archetype has besides its motion, for example health. */
typedef struct reckoner_field_spec {
  uint32_t struct_size;
  int32_t type;           /* RECKONER_VALUE_BOOLEAN... */
  const char* name;       /* at most 32 bytes */
  int64_t integer_least;  /* 0; smallest value. The range determines the size on the wire */
  int64_t integer_most;   /* 255; largest value */
  double real_least;      /* 0; smallest value */
  double real_most;       /* 1; largest value */
  double real_step;       /* 0.001; both ends round the value to this step */
  uint32_t most_bytes;    /* 64; largest size of a blob */
  uint32_t reserved;      /* 0 */
  reckoner_value initial; /* 0, false or empty; its type is ignored */
} reckoner_field_spec;
RECKONER_C_API void reckoner_field_spec_init(reckoner_field_spec* spec, uint32_t struct_size);

/* A solid box, in the coordinates of the server's first origin. */
typedef struct reckoner_wall_box {
  double centre[3];     /* m */
  double half_size[3];  /* half of the edges along the box's own axes, m; above 0 */
  float orientation[4]; /* x, y, z, w: box to world, a unit quaternion */
} reckoner_wall_box;

typedef struct reckoner_archetype {
  uint32_t struct_size;
  uint32_t field_count;              /* 0 */
  const char* name;                  /* "entity" */
  const reckoner_field_spec* fields; /* null */
  double threshold_m;      /* largest error of the predicted position before the server publishes, m */
  double threshold_rad;    /* the same for the orientation, rad */
  double max_speed_mps;    /* the server refuses faster states, m/s */
  double world_size_m;     /* the server refuses states further from the origin on any axis, m */
  int32_t has_orientation; /* 1; 0: the orientation is never sent */
  int32_t never_reverses;  /* 0; 1: prediction lets braking entities come to rest, as cars do */
  /* The ground, below which the entities are never shown. Server and client must use the same one. */
  int32_t floor;         /* RECKONER_FLOOR_NONE */
  uint32_t reserved;     /* 0 */
  double floor_up[3];    /* 0, 0, 1: the direction against gravity, a unit vector */
  double floor_height_m; /* a plane: all points p with dot(p, floor_up) = floor_height_m, m */
  /* A terrain: the height of the ground at a position, measured along floor_up, m. Infinite where there is no
   * ground. It is called for every shown entity in every picture, and by all threads of a server. */
  double (*floor_at)(void* user, const double position[3]);
  void* floor_user;
  /* Prefix codes that suit the motion of these entities, from `reckoner-harness replay --learn-codes`.
   * Null or "": codes that suit most entities. Only the server reads it. */
  const char* codes;
  /* Obstacles, behind which the entities are never shown. Server and client must use the same ones. An entity
   * that reaches a box slides along it. */
  const reckoner_wall_box* wall_boxes; /* null */
  uint32_t wall_count;                 /* 0; at most 4096 */
  int32_t velocity;                    /* RECKONER_VELOCITY_AUTOMATIC */
  double wall_margin_m;                /* 0; the distance that positions keep from boxes, m */
  /* For obstacles that are no boxes, or null: writes to `reached` the point that an entity reaches if it
   * moves straight from `from` to `to`. It is called for every shown entity in every picture, and by all
   * threads of a server. */
  void (*wall_reach)(void* user, const double from[3], const double to[3], double reached[3]);
  void* wall_user;
} reckoner_archetype;
enum reckoner_floor_kind { RECKONER_FLOOR_NONE = 0, RECKONER_FLOOR_PLANE = 1, RECKONER_FLOOR_TERRAIN = 2 };
/* Where the velocities of entities come from. Automatic: from the game; they are estimated from positions
 * while the game leaves them at 0 although an entity moves. */
enum reckoner_velocity_source {
  RECKONER_VELOCITY_AUTOMATIC = 0,
  RECKONER_VELOCITY_GIVEN = 1,
  RECKONER_VELOCITY_ESTIMATED = 2
};
RECKONER_C_API void reckoner_archetype_init(reckoner_archetype* archetype, uint32_t struct_size);
/* Writes the index of the archetype or field with this name, as the other functions expect it. Look names up
 * once, at the start. RECKONER_ERROR_UNKNOWN if there is none: then it writes a text to `why`, if that is not
 * null, that lists the known names, the most similar one first. */
RECKONER_C_API reckoner_result reckoner_find_archetype(const reckoner_archetype* archetypes, uint32_t count,
                                                       const char* name, uint32_t* index, char* why,
                                                       size_t why_size);
RECKONER_C_API reckoner_result reckoner_find_field(const reckoner_archetype* archetype, const char* name,
                                                   uint32_t* index, char* why, size_t why_size);

/* ---- Keys and tokens: who may join -------------------------------------------------------------------- */

enum reckoner_byte_count {
  RECKONER_KEY_BYTES = 32,
  RECKONER_TOKEN_BYTES = 1024,
  RECKONER_USER_BYTES = 256,
  RECKONER_MAX_INPUT_BYTES = 64,      /* largest input of a player for one tick */
  RECKONER_MAX_GAME_STATE_BYTES = 128 /* largest game state of a predicted entity */
};

/* An IPv4 address and a UDP port, both in native byte order: 127.0.0.1 is 0x7f000001. */
typedef struct reckoner_address {
  uint32_t host;
  uint16_t port;
  uint16_t reserved;
} reckoner_address;

/* A new random key, for servers and for backends that issue tokens. */
RECKONER_C_API reckoner_result reckoner_make_key(uint8_t key[32]);
/* Converts a key from and to the text in key files of `reckoner-token`: 64 hexadecimal digits. Ignores white
 * space at both ends. The output ends with 0. */
RECKONER_C_API reckoner_result reckoner_key_from_text(const char* text, uint8_t key[32]);
RECKONER_C_API reckoner_result reckoner_key_to_text(const uint8_t key[32], char text[65]);

/* What a token permits: one client may join one of the servers until the token expires. */
typedef struct reckoner_grant {
  uint32_t struct_size;
  uint32_t server_count;           /* 0 to 32; with more_servers: at least one in total */
  const reckoner_address* servers; /* the addresses that clients use */
  uint64_t client_id;              /* the backend's id of the client */
  uint64_t expires_s;              /* seconds since 1970 */
  uint64_t game;                   /* distinguishes games with the same key */
  const uint8_t* user_data;        /* passed to the server's game; may be null */
  uint32_t user_data_size;         /* at most 256 */
  uint32_t reserved;
  uint64_t renewable_until_s; /* until when the client may reconnect with tickets, seconds since 1970; 0: a
                                 day after expires_s */
  uint64_t issued_ms; /* when the player logged in, milliseconds since 1970; 0: now. Of two tokens of one
                         client id, the later one wins */
  /* Further servers, IPv4 or IPv6, as text with blanks between them: "[2001:db8::5]:4000 203.0.113.5:4000".
   * Null: none. Name a server that has both kinds of addresses with both. All servers together: at most 32,
   * and at most 256 bytes (7 for an IPv4 address, 19 for an IPv6 address). None may be 0.0.0.0, ::, multicast
   * or broadcast, or have port 0. */
  const char* more_servers;
} reckoner_grant;
RECKONER_C_API void reckoner_grant_init(reckoner_grant* grant, uint32_t struct_size);

/* Issues a token, with which a client can join once. */
RECKONER_C_API reckoner_result reckoner_issue_token(const reckoner_grant* grant, const uint8_t key[32],
                                                    uint8_t token[1024]);

/* ---- Server ------------------------------------------------------------------------------------------- */

typedef struct reckoner_server reckoner_server;
typedef struct reckoner_web_config reckoner_web_config; /* reckoner_web.h */

typedef struct reckoner_server_config {
  uint32_t struct_size;
  uint32_t archetype_count;             /* number of archetypes */
  const reckoner_archetype* archetypes; /* required */

  const char* host; /* address to listen on; null: all addresses of this machine, IPv6 and IPv4; "0.0.0.0":
                       all IPv4 addresses; "::": all IPv6 addresses */
  uint16_t port;    /* UDP port; 0: any free port, see reckoner_server_port() */
  uint16_t reserved;
  int32_t insecure;                  /* 1: anyone may join, without encryption and without a key */
  const uint8_t* key;                /* 32 bytes; the backend that issues tokens has the same key */
  uint64_t game;                     /* the game number in the tokens */
  uint32_t address_count;            /* number of addresses */
  uint32_t peers_per_address;        /* most connections from one address; a /64 of IPv6 counts as one */
  const reckoner_address* addresses; /* the addresses that clients use; port 0: the port in use. A token
                                        must name one of them. None: `host`, which is then required */
  double handshakes_per_second;      /* new sessions from one IP address; 0: no limit */

  double tick_rate_hz;       /* ticks per second */
  double epoch_s;            /* server time of tick 0 */
  uint32_t max_clients;      /* more than 4000 only on Linux */
  uint32_t max_entities;     /* entities at once */
  uint64_t bytes_per_second; /* largest rate to one client; 0: as much as its connection carries */
  int32_t follow_link;       /* 1: the rate also adapts to each client's connection */
  uint32_t threads;          /* threads that publish and encode; 0: one for each core */
  double heartbeat_s;        /* longest time between datagrams to a client */
  double join_timeout_s;     /* a connection without a request to join is closed after this time */
  double updates_per_second; /* budget of each entity; 0: thresholds decide alone */
  double fixed_rate_hz;      /* every entity is published at this rate; 0: thresholds decide */
  double rewind_s;           /* how far back reckoner_server_pose_seen_by() goes */

  double interest_radius_m;   /* a client sees entities up to this distance; 0: at any distance */
  double interest_hysteresis; /* share of the distance by which an entity must leave before it is hidden */
  double interest_level_distance_m[2]; /* from these distances on, the threshold is 4 and 16 times as large;
                                          0: never */
  double interest_interval_s;          /* how often the relevant entities of a client are determined */

  double tokens_per_second; /* new sessions from all IP addresses together; 0: no limit */

  /* Limits on what clients can make the server accept. The server drops and counts what exceeds a rate. */
  double limit_datagrams_per_second;         /* from one client; 0: no limit */
  double limit_bytes_per_second;             /* from one client; 0: no limit */
  double limit_address_datagrams_per_second; /* from all clients at one IP address; 0: no limit */
  double limit_address_bytes_per_second;     /* from all clients at one IP address; 0: no limit */
  double limit_burst_s;                      /* the amount of this time may arrive at once */
  uint64_t reserved3, reserved4, reserved5;  /* ignored; before protocol version 13, three other limits */
  uint64_t limit_waiting_events;             /* arrived events that the server has not processed */

  reckoner_log_function log; /* null: no log */
  void* log_user;            /* first argument of the log function */
  int32_t log_least;         /* RECKONER_LOG_INFO: lowest level that is logged */
  int32_t reserved2;

  double resume_s; /* how long a client whose connection was lost can resume its session; 0: it cannot */

  int32_t any_server;     /* 1, instead of addresses: accepts tokens for every server with this key */
  int32_t receive_thread; /* 1: a thread reads the socket, also while the game does not call receive */
  double ticket_s;        /* how long a client can reconnect with its ticket after it was last connected */
  double half_open_s;     /* a session without a connection ends after this time */
  uint64_t limit_waiting_event_bytes; /* bytes in these events */
  double limit_silence_s;             /* a client that sends nothing for this time is lost */
  uint32_t sessions_per_client; /* of one client id at once; a newer session ends the oldest. 0: no limit */
  uint32_t used_tokens_per_client; /* used tokens of one client id that the server remembers */
  uint64_t used_tokens; /* used tokens that the server remembers; it refuses new tokens while the table is
                           full. Also the number of remembered kicks; the oldest is forgotten then */
  /* Further addresses that clients use, IPv4 or IPv6, as text with blanks between them:
   * "[2001:db8::5]:4000 203.0.113.5". Without a port: the port in use. Null: none. */
  const char* more_addresses;
  /* Datagrams with motions per second to one client; motions that are due in between wait. 0: one in every
   * tick in which something is due. */
  double send_rate_hz;
  /* Game messages taken from one client. Reliable messages beyond a rate wait at the client; unreliable ones
   * are refused. 0: no limit. */
  double client_messages_per_second;
  uint64_t client_message_bytes_per_second;
  /* How datagrams travel: "udp" (IPv4 and IPv6, with a key or insecure) or "enet" (ENet: IPv4, insecure).
   * Server and clients must use the same one. Null: "udp" with a key, "enet" if insecure. */
  const char* transport;
  double repeat_input_s; /* for this time, the last input of a player stands in for inputs that are missing */
  /* Players in browsers join, too, through a TCP port: reckoner_web.h. Null: only native clients. */
  const reckoner_web_config* web;
} reckoner_server_config;
RECKONER_C_API void reckoner_server_config_init(reckoner_server_config* config, uint32_t struct_size);

/* Opens the socket. On failure, writes the reason to `why`, if that is not null. The server keeps no pointer
 * to the configuration. */
RECKONER_C_API reckoner_result reckoner_server_create(const reckoner_server_config* config,
                                                      reckoner_server** server, char* why, size_t why_size);
/* Ends all connections at once: reliable messages that clients still lack are lost. To deliver them, call
 * reckoner_server_shutdown() before. */
RECKONER_C_API void reckoner_server_destroy(reckoner_server* server);

/* The UDP port in use; 0 for null. */
RECKONER_C_API uint16_t reckoner_server_port(const reckoner_server* server);

/* In each tick: change entities, then call tick. Call receive soon after datagrams arrive, because clock
 * synchronisation measures arrival times. On the clock of now_s, tick k is due at epoch_s + k / tick_rate_hz.
 */
RECKONER_C_API reckoner_result reckoner_server_receive(reckoner_server* server, double now_s);
RECKONER_C_API reckoner_result reckoner_server_tick(reckoner_server* server, double now_s);
/* The number and the time of the next tick. Either pointer may be null. */
RECKONER_C_API reckoner_result reckoner_server_next_tick(const reckoner_server* server, uint32_t* tick,
                                                         double* time_s);
/* Waits until a datagram arrives or `seconds` have passed. Then call receive. */
RECKONER_C_API reckoner_result reckoner_server_wait(reckoner_server* server, double seconds);
/* Ends all sessions and admits no more clients. Continue to call receive until reckoner_server_stats.closing
 * is 0: it first sends the reliable messages that a client still lacks, for at most 10 s, and then ends the
 * connection. Limit the time, because a client that has crashed does not answer. */
RECKONER_C_API reckoner_result reckoner_server_shutdown(reckoner_server* server);

/* Entities. `frame`: the entity in whose frame the new entity and `state` are; 0: the world. `name` has at
 * most 64 bytes. */
RECKONER_C_API reckoner_result reckoner_server_spawn(reckoner_server* server, uint32_t archetype,
                                                     const char* name, const reckoner_state* state,
                                                     reckoner_entity frame, reckoner_entity* entity);
/* Adds an entity that lives for seconds, such as a projectile. While many spawns wait for a client's byte
 * budget, those of short-lived entities go first. `end_s`: the server time at which the server and all
 * clients end it; null: it ends with reckoner_server_despawn(). `data`: up to 256 bytes for the clients'
 * games. `predicted_by`: the client that has predicted the entity with the key `prediction`
 * (reckoner_client_predict_spawn()); 0: none. */
RECKONER_C_API reckoner_result reckoner_server_spawn_short_lived(reckoner_server* server, uint32_t archetype,
                                                                 const reckoner_state* state,
                                                                 const double* end_s, const void* data,
                                                                 size_t size, reckoner_client_id predicted_by,
                                                                 uint32_t prediction, reckoner_entity frame,
                                                                 reckoner_entity* entity);
/* Tells a client that the server does not spawn what the client has predicted with this key. */
RECKONER_C_API reckoner_result reckoner_server_refuse_prediction(reckoner_server* server,
                                                                 reckoner_client_id client, uint32_t key);
/* The reason why the last call with this server failed. 0: it did not fail, or there is no reason besides its
 * result. A call that returns RECKONER_ERROR_ARGUMENT may leave the value of an earlier call. */
enum reckoner_call_error {
  RECKONER_CALL_UNKNOWN_ENTITY = 1,
  RECKONER_CALL_UNKNOWN_ARCHETYPE = 2,
  RECKONER_CALL_UNKNOWN_FRAME = 3,
  RECKONER_CALL_TOO_DEEP = 4,
  RECKONER_CALL_NAME_TOO_LONG = 5,
  RECKONER_CALL_DATA_TOO_LONG = 6,
  RECKONER_CALL_END_OUT_OF_RANGE = 7,
  RECKONER_CALL_WORLD_FULL = 8,
  RECKONER_CALL_NOT_FINITE = 9,
  RECKONER_CALL_OUTSIDE_WORLD = 10,
  RECKONER_CALL_TOO_FAST = 11,
  RECKONER_CALL_BEYOND_LIMITS = 12,
  RECKONER_CALL_OWNED = 13,
  RECKONER_CALL_NOT_OWNED = 14,
  RECKONER_CALL_EVENT_NOT_POLLED = 15,
  RECKONER_CALL_NO_CLOCK = 16,
  RECKONER_CALL_NO_ROUTE = 17,
  RECKONER_CALL_CIRCLE = 18,
  RECKONER_CALL_SHORT_LIVED = 19,
  RECKONER_CALL_UNKNOWN_CLIENT = 20,
  RECKONER_CALL_NO_CONNECTION = 21,
  RECKONER_CALL_NO_OWNER = 22,
  RECKONER_CALL_UNKNOWN_ROUTE = 23,
  RECKONER_CALL_UNKNOWN_FIELD = 24,
  RECKONER_CALL_WRONG_TYPE = 25,
  RECKONER_CALL_OUT_OF_RANGE = 26,
  RECKONER_CALL_MESSAGE_EMPTY = 27,
  RECKONER_CALL_MESSAGE_TOO_LONG = 28,
  RECKONER_CALL_QUEUE_FULL = 29,
  RECKONER_CALL_INVALID_TIME = 30,
  RECKONER_CALL_REASON_TOO_LONG = 31,
  RECKONER_CALL_NOT_SHOWN = 32,
  RECKONER_CALL_NOT_PREDICTED = 33,
  RECKONER_CALL_TOO_MANY_PREDICTED = 34,
  RECKONER_CALL_PREDICTED = 35,
  RECKONER_CALL_NO_STEP = 36
};
RECKONER_C_API uint32_t reckoner_server_call_error(const reckoner_server* server);
/* One of these errors in one line of text; valid for ever. */
RECKONER_C_API const char* reckoner_call_error_text(uint32_t error);
RECKONER_C_API reckoner_result reckoner_server_despawn(reckoner_server* server, reckoner_entity entity);
/* Sets the true state at the next tick, in the entity's frame. */
RECKONER_C_API reckoner_result reckoner_server_move(reckoner_server* server, reckoner_entity entity,
                                                    const reckoner_state* truth);
/* Sets the true state after a jump. Clients do not blend over the jump. */
RECKONER_C_API reckoner_result reckoner_server_teleport(reckoner_server* server, reckoner_entity entity,
                                                        const reckoner_state* truth);
/* The state at the next tick, in the entity's frame and in the world. */
RECKONER_C_API reckoner_result reckoner_server_state(const reckoner_server* server, reckoner_entity entity,
                                                     reckoner_state* state);
RECKONER_C_API reckoner_result reckoner_server_in_world(const reckoner_server* server, reckoner_entity entity,
                                                        reckoner_state* state);

/* Writes up to `capacity` entities in order of slot, and their number to *count: all, or those whose true
 * position in the world is at most `radius_m` from `centre`. RECKONER_ERROR_CAPACITY: there are *count
 * entities, and the first `capacity` of them were written. */
RECKONER_C_API reckoner_result reckoner_server_entities(const reckoner_server* server,
                                                        reckoner_entity* entities, size_t capacity,
                                                        size_t* count);
RECKONER_C_API reckoner_result reckoner_server_entities_near(const reckoner_server* server,
                                                             const double centre[3], double radius_m,
                                                             reckoner_entity* entities, size_t capacity,
                                                             size_t* count);
/* A number that the game keeps with an entity, 0 at first. It is not sent. */
RECKONER_C_API reckoner_result reckoner_server_set_user_value(reckoner_server* server, reckoner_entity entity,
                                                              uint64_t value);
RECKONER_C_API reckoner_result reckoner_server_user_value(const reckoner_server* server,
                                                          reckoner_entity entity, uint64_t* value);

/* The last published motion as clients decode it: its state at its time stamp, in the entity's frame.
 * `time_s` may be null. RECKONER_NOTHING before the entity's first tick. */
RECKONER_C_API reckoner_result reckoner_server_published(const reckoner_server* server,
                                                         reckoner_entity entity, reckoner_state* state,
                                                         double* time_s);

/* Debug data of an entity at the last tick, in world coordinates: the true state and the published one. */
typedef struct reckoner_entity_debug {
  uint32_t struct_size;
  uint32_t level; /* finest level of detail in use: 0, 1 or 2 for 1, 4 and 16 times the threshold */
  reckoner_entity entity;
  reckoner_state truth;     /* as the game set it last */
  reckoner_state published; /* the published motion at the same instant */
  double age_s;             /* the tick's time minus the time stamp of the published motion */
  double error_m;           /* distance between truth and published motion */
  double error_rad;
  double threshold_m; /* present limit of the error */
  double threshold_rad;
  uint64_t clients;      /* clients for which the entity is relevant */
  reckoner_entity frame; /* entity in whose frame it is; 0: the world */
  int32_t on_route;      /* 1: it moves along a route */
  int32_t owned;         /* 1: a client owns it */
} reckoner_entity_debug;
/* Set debug->struct_size. RECKONER_NOTHING before the entity's first tick. */
RECKONER_C_API reckoner_result reckoner_server_debug(const reckoner_server* server, reckoner_entity entity,
                                                     reckoner_entity_debug* debug);

/* Frames: puts an entity into the frame of another one (a passenger on a ship) from the next tick on; 0: the
 * world. Its position in the world does not change; from then on, move it in coordinates of the frame.
 * RECKONER_ERROR_REFUSED: the frames would form a cycle or nest more than four deep, a client owns the
 * entity, or its state there exceeds the limits. */
RECKONER_C_API reckoner_result reckoner_server_enter_frame(reckoner_server* server, reckoner_entity entity,
                                                           reckoner_entity frame);
/* Whether owners may move their entities into the frame of this entity (a ship, a platform): 1 or 0, which is
 * the default. RECKONER_ERROR_UNKNOWN also for a short-lived entity. */
RECKONER_C_API reckoner_result reckoner_server_set_boardable(reckoner_server* server, reckoner_entity entity,
                                                             int32_t boardable);
/* The frame of an entity. RECKONER_NOTHING and 0: the world. */
RECKONER_C_API reckoner_result reckoner_server_frame_of(const reckoner_server* server, reckoner_entity entity,
                                                        reckoner_entity* frame);
/* Sets the origin of the coordinates that the game passes in from now on, m. Entities do not move. */
RECKONER_C_API reckoner_result reckoner_server_set_origin(reckoner_server* server, const double origin[3]);

/* Whether an entity is relevant: for all clients (client 0) or for one. */
enum reckoner_relevance {
  RECKONER_RELEVANCE_BY_DISTANCE = 0,
  RECKONER_RELEVANCE_ALWAYS = 1,
  RECKONER_RELEVANCE_NEVER = 2
};
RECKONER_C_API reckoner_result reckoner_server_set_relevance(reckoner_server* server,
                                                             reckoner_client_id client,
                                                             reckoner_entity entity, int32_t relevance);
/* A client sees an entity only if their groups have a bit in common. All bits are set by default. */
RECKONER_C_API reckoner_result reckoner_server_set_entity_groups(reckoner_server* server,
                                                                 reckoner_entity entity, uint32_t groups);
RECKONER_C_API reckoner_result reckoner_server_set_client_groups(reckoner_server* server,
                                                                 reckoner_client_id client, uint32_t groups);
/* Sets a client's point of view, from which the server measures distances, m. */
RECKONER_C_API reckoner_result reckoner_server_set_view(reckoner_server* server, reckoner_client_id client,
                                                        const double eye[3]);

/* User fields, by their index in the archetype. */
RECKONER_C_API reckoner_result reckoner_server_set_field(reckoner_server* server, reckoner_entity entity,
                                                         uint32_t field, const reckoner_value* value);
/* The value as clients receive it. */
RECKONER_C_API reckoner_result reckoner_server_field(const reckoner_server* server, reckoner_entity entity,
                                                     uint32_t field, reckoner_value* value);

/* Entities that a client owns: the client moves them, within the limits of the archetype and these rules. */
enum reckoner_owner_policy {
  RECKONER_OWNER_POLICY_ACCEPT = 0,
  RECKONER_OWNER_POLICY_CORRECT = 1,
  RECKONER_OWNER_POLICY_REFUSE = 2
};
enum reckoner_owner_gone { RECKONER_OWNER_GONE_REST = 0, RECKONER_OWNER_GONE_DESPAWN = 1 };
typedef struct reckoner_ownership_rules {
  uint32_t struct_size;
  int32_t policy; /* RECKONER_OWNER_POLICY_CORRECT: reaction to motions that exceed the limits */
  int32_t gone;   /* RECKONER_OWNER_GONE_REST: what happens to the entity when its owner leaves */
  uint32_t reserved;
  double max_acceleration_mps2; /* 1000; largest acceleration, m/s^2 */
  double max_updates_per_s;     /* 120; the server ignores more */
  double silence_s;             /* 1; without motions for this time, the entity comes to rest, s */
  double frame_reach_m; /* 100; largest distance at which the entity may enter the frame of a boardable entity
                           (reckoner_server_set_boardable()), m; 0: it may not */
  double max_teleport_m; /* 0; largest distance of a teleport that the owner declares, m; 0: it may not */
  double teleport_interval_s; /* 0; least time between two such teleports, s */
  double max_turning_mps;     /* 0; how fast a frame that turns may move the entity, m/s; 0: the archetype's
                                 speed. If the frame turns it faster, the entity leaves the frame */
} reckoner_ownership_rules;
RECKONER_C_API void reckoner_ownership_rules_init(reckoner_ownership_rules* rules, uint32_t struct_size);
/* Gives an entity to a client. `rules` may be null: the defaults. */
RECKONER_C_API reckoner_result reckoner_server_give(reckoner_server* server, reckoner_entity entity,
                                                    reckoner_client_id owner,
                                                    const reckoner_ownership_rules* rules);
/* Revokes the ownership. RECKONER_NOTHING if no client owned the entity. */
RECKONER_C_API reckoner_result reckoner_server_revoke(reckoner_server* server, reckoner_entity entity);
/* The owner. RECKONER_NOTHING and 0 if no client owns the entity. */
RECKONER_C_API reckoner_result reckoner_server_owner(const reckoner_server* server, reckoner_entity entity,
                                                     reckoner_client_id* owner);

/* The player's own body: the client's game steps an entity at once with the player's inputs, and the server's
 * game decides what happens. In each tick, between receive and tick, the server's game calls
 * reckoner_server_input() once for each client, steps, and then calls reckoner_server_move() and
 * reckoner_server_set_game_state(). */
typedef struct reckoner_prediction_rules {
  uint32_t struct_size;
  uint32_t reserved;
  double position_m; /* 0.01; the server corrects the client if its result is further away along an axis, m;
                        0.0001 to 100 */
  double angle_rad;  /* 0.01; the same for rotation about any axis, rad; 0.0001 to 1 */
} reckoner_prediction_rules;
RECKONER_C_API void reckoner_prediction_rules_init(reckoner_prediction_rules* rules, uint32_t struct_size);
/* Lets a client predict an entity. `rules` may be null: the defaults. Several clients may predict one entity,
 * and one client at most 8 entities. Call it again to change the rules. The prediction begins when the client
 * knows the entity (RECKONER_CLIENT_EVENT_PREDICTION_BEGAN). RECKONER_ERROR_REFUSED: the entity is
 * short-lived or owned, the client predicts 8 entities already, or a rule is out of its range. */
RECKONER_C_API reckoner_result reckoner_server_let_predict(reckoner_server* server, reckoner_entity entity,
                                                           reckoner_client_id client,
                                                           const reckoner_prediction_rules* rules);
/* The client shows the entity like those of others from now on. RECKONER_ERROR_REFUSED if the client does not
 * predict it. */
RECKONER_C_API reckoner_result reckoner_server_stop_prediction(reckoner_server* server,
                                                               reckoner_entity entity,
                                                               reckoner_client_id client);
/* Sets bytes of the game that belong to the exact state of an entity, at most 128, such as a cooldown. They
 * travel with each correction, and a client whose bytes differ is corrected. `bytes` may be null if the size
 * is 0. */
RECKONER_C_API reckoner_result reckoner_server_set_game_state(reckoner_server* server, reckoner_entity entity,
                                                              const void* bytes, size_t size);
/* What a player does in the next tick. */
typedef struct reckoner_player_input {
  uint32_t struct_size;
  uint32_t repeated; /* 0: the input of this tick. Otherwise this input is missing, and `bytes` is that of an
                        earlier tick, which is used for this many ticks more than the player sent it for */
  const uint8_t* bytes; /* the input; valid until the next receive or tick */
  size_t size;          /* at most 64; 0: there is no input, or none for longer than repeat_input_s */
  double seen_s;        /* server time of the other entities that the player saw, for
                           reckoner_server_pose_seen_by(), s; 0: there is no input yet */
} reckoner_player_input;
/* Set input->struct_size. RECKONER_NOTHING and an empty input if the client is unknown. */
RECKONER_C_API reckoner_result reckoner_server_input(reckoner_server* server, reckoner_client_id client,
                                                     reckoner_player_input* input);
/* Figures of one client's inputs and predictions since it joined. */
typedef struct reckoner_prediction_stats {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t ticks;          /* ticks for which the game asked for an input, since the first has arrived */
  uint64_t ticks_repeated; /* ticks whose input had not arrived in time */
  uint64_t inputs_late;    /* inputs that arrived after their tick */
  uint64_t inputs_refused; /* inputs too far ahead of their tick, or long past */
  uint64_t results;        /* compared results of the client, one for all entities of a tick */
  uint64_t mispredicted;   /* results that were outside the tolerance */
  uint64_t corrections;    /* corrections sent, with those that repeat one */
} reckoner_prediction_stats;
/* Set stats->struct_size. RECKONER_NOTHING if the client has no session. */
RECKONER_C_API reckoner_result reckoner_server_get_prediction_stats(const reckoner_server* server,
                                                                    reckoner_client_id client,
                                                                    reckoner_prediction_stats* stats);

/* Routes: curves that both ends know. Updates of an entity on a route are very small. */
enum reckoner_route_kind {
  RECKONER_ROUTE_CATMULL_ROM = 0,
  RECKONER_ROUTE_TCB = 1,
  RECKONER_ROUTE_CHAIKIN = 2,
  RECKONER_ROUTE_POLYLINE = 3
};
enum reckoner_route_wrap { RECKONER_WRAP_OPEN = 0, RECKONER_WRAP_CLOSED = 1, RECKONER_WRAP_PING_PONG = 2 };
enum reckoner_route_facing {
  RECKONER_FACING_UPRIGHT = 0,
  RECKONER_FACING_MINIMAL = 1,
  RECKONER_FACING_FIXED = 2
};
typedef struct reckoner_route_key { /* for RECKONER_ROUTE_TCB */
  double time;                      /* increases from key to key; only weighs the tangents */
  double position[3];               /* m */
  double tension, continuity, bias; /* usually -1 to 1 */
  double ease_to, ease_from;        /* 0 to 1 */
} reckoner_route_key;
typedef struct reckoner_route_config {
  uint32_t struct_size;
  int32_t kind;                   /* RECKONER_ROUTE_CATMULL_ROM */
  int32_t wrap;                   /* RECKONER_WRAP_OPEN */
  int32_t facing;                 /* RECKONER_FACING_UPRIGHT */
  uint32_t point_count;           /* 0 */
  uint32_t key_count;             /* 0 */
  const double* points;           /* x, y, z of each, m; for all kinds except RECKONER_ROUTE_TCB */
  const reckoner_route_key* keys; /* for RECKONER_ROUTE_TCB */
  int32_t knots;                  /* 1; for Catmull-Rom: 0 uniform, 1 centripetal, 2 chordal */
  int32_t reflect_ends;           /* 0 */
  int32_t passes;                 /* 2; for Chaikin */
  int32_t reserved;
  double closing_time;      /* duration of the last span of a closed TCB; 0: the mean of the others */
  double up[3];             /* 0, 0, 1 */
  double orientation[4];    /* 0, 0, 0, 1; for RECKONER_FACING_FIXED */
  double tolerance_m;       /* 0: default */
  double angle_limit_rad;   /* for Chaikin: cuts corners that turn by this or more; -1: all corners */
  double outlier_limit_rad; /* before Chaikin's passes, removes spikes that turn by more; 0: none */
} reckoner_route_config;
RECKONER_C_API void reckoner_route_config_init(reckoner_route_config* config, uint32_t struct_size);
/* On failure, writes the reason to `why`, if that is not null. */
RECKONER_C_API reckoner_result reckoner_server_add_route(reckoner_server* server,
                                                         const reckoner_route_config* config,
                                                         reckoner_route* route, char* why, size_t why_size);
RECKONER_C_API reckoner_result reckoner_server_route_length(const reckoner_server* server,
                                                            reckoner_route route, double* length_m);
/* The state of an entity at this distance along the route, m, with this speed and acceleration. */
RECKONER_C_API reckoner_result reckoner_server_route_state(const reckoner_server* server,
                                                           reckoner_route route, double distance_m,
                                                           double speed_mps, double acceleration_mps2,
                                                           reckoner_state* state);
/* The distance along the route that is nearest to a point, m, and the distance between them, m; `away_m` may
 * be null. */
RECKONER_C_API reckoner_result reckoner_server_route_nearest(const reckoner_server* server,
                                                             reckoner_route route, const double point[3],
                                                             double* distance_m, double* away_m);
/* Puts an entity on a route. Then call move as before, or move_along with m, m/s and m/s^2. */
RECKONER_C_API reckoner_result reckoner_server_follow(reckoner_server* server, reckoner_entity entity,
                                                      reckoner_route route);
RECKONER_C_API reckoner_result reckoner_server_leave_route(reckoner_server* server, reckoner_entity entity);
RECKONER_C_API reckoner_result reckoner_server_move_along(reckoner_server* server, reckoner_entity entity,
                                                          double distance_m, double speed_mps,
                                                          double acceleration_mps2);

/* Messages in both directions: bytes of the game, which must not trust them. Unreliable messages arrive at
 * once or not at all and have at most 1000 bytes; reliable ones arrive in order and have at most 16384.
 * Unordered reliable messages arrive exactly once and do not wait for messages before them.
 * `time_s`: a server time, or null; the receiver gets the message when the time that it shows reaches
 * `time_s`. */
enum reckoner_delivery {
  RECKONER_DELIVERY_RELIABLE = 0,
  RECKONER_DELIVERY_UNRELIABLE = 1,
  RECKONER_DELIVERY_RELIABLE_UNORDERED = 2 /* at most 16384 bytes */
};
typedef struct reckoner_message {
  uint32_t struct_size;
  reckoner_client_id sender; /* 0 in a client: the server */
  const uint8_t* bytes;      /* valid until the next poll of messages */
  size_t size;
  int32_t has_time;
  int32_t reserved;
  double time_s;
} reckoner_message;
/* Sends to one client; 0: to all clients, RECKONER_NOTHING if there are none. */
RECKONER_C_API reckoner_result reckoner_server_send(reckoner_server* server, reckoner_client_id client,
                                                    const void* bytes, size_t size, int32_t delivery,
                                                    const double* time_s);
/* Sends to several clients at once: to all, to those in a list, to those whose eye (set_view) is at most
 * radius_m from a point, or to those that see an entity: it is relevant to them, and its spawn was sent.
 * The client `except` gets nothing; 0: none is left out. `reached`, which may be null, is the number of
 * clients to which the message was sent; RECKONER_NOTHING if it is 0. */
RECKONER_C_API reckoner_result reckoner_server_broadcast(reckoner_server* server, reckoner_client_id except,
                                                         const void* bytes, size_t size, int32_t delivery,
                                                         const double* time_s, size_t* reached);
/* Skips clients that have left. A client that is listed twice gets the message once. */
RECKONER_C_API reckoner_result reckoner_server_broadcast_listed(
    reckoner_server* server, const reckoner_client_id* clients, size_t count, reckoner_client_id except,
    const void* bytes, size_t size, int32_t delivery, const double* time_s, size_t* reached);
RECKONER_C_API reckoner_result reckoner_server_broadcast_within(reckoner_server* server,
                                                                const double centre[3], double radius_m,
                                                                reckoner_client_id except, const void* bytes,
                                                                size_t size, int32_t delivery,
                                                                const double* time_s, size_t* reached);
RECKONER_C_API reckoner_result reckoner_server_broadcast_seeing(reckoner_server* server,
                                                                reckoner_entity entity,
                                                                reckoner_client_id except, const void* bytes,
                                                                size_t size, int32_t delivery,
                                                                const double* time_s, size_t* reached);
/* The next message of a client. Set message->struct_size. Poll after every receive. */
RECKONER_C_API reckoner_result reckoner_server_poll_message(reckoner_server* server,
                                                            reckoner_message* message);

enum reckoner_server_event_kind {
  RECKONER_SERVER_EVENT_CLIENT_JOINED = 0,
  RECKONER_SERVER_EVENT_CLIENT_LEFT = 1,
  RECKONER_SERVER_EVENT_CLIENT_REFUSED = 2,  /* `text` is the reason */
  RECKONER_SERVER_EVENT_OWNER_CORRECTED = 3, /* the owner of `entity` sent motions beyond the limits */
  RECKONER_SERVER_EVENT_OWNER_REFUSED = 4,   /* as before, and the server did not use them */
  RECKONER_SERVER_EVENT_CLIENT_LOST = 5,     /* it may resume (resume_s). It owns no entities now */
  RECKONER_SERVER_EVENT_CLIENT_BACK = 6      /* it resumed its session */
};
typedef struct reckoner_server_event {
  uint32_t struct_size;
  int32_t kind;
  reckoner_client_id client;
  uint32_t reserved;
  reckoner_entity entity;
  const char* text; /* valid until the next poll of events */
} reckoner_server_event;
RECKONER_C_API reckoner_result reckoner_server_poll_event(reckoner_server* server,
                                                          reckoner_server_event* event);

/* The identity in a client's token. `user_data` may be null. RECKONER_NOTHING on an insecure server. */
RECKONER_C_API reckoner_result reckoner_server_identity(const reckoner_server* server,
                                                        reckoner_client_id client, uint64_t* client_id,
                                                        uint8_t user_data[256]);

/* Ends a client's session, also that of a client which has lost its connection. The client is told `reason`,
 * at most 255 bytes of UTF-8 or null, and does not reconnect. All other sessions of its client id end, too,
 * and nothing that the backend has issued for the client id until now admits anybody. If sessions_per_client
 * is 0, only the token and the tickets of this client become invalid. RECKONER_NOTHING if the client is
 * unknown. */
RECKONER_C_API reckoner_result reckoner_server_kick(reckoner_server* server, reckoner_client_id client,
                                                    const char* reason);

/* Kicks the player with a client id, whether it has sessions here or not: it may have just left, or another
 * server may have kicked it. `ended` gets the number of sessions that have ended; it may be null. Kicks
 * nobody on an insecure server and if sessions_per_client is 0. */
RECKONER_C_API reckoner_result reckoner_server_kick_player(reckoner_server* server, uint64_t client_id,
                                                           const char* reason, size_t* ended);

/* Lag compensation (reckoner_server_config::rewind_s): the pose of an entity that a client showed at server
 * time `time_s`, as estimated by that client. RECKONER_NOTHING if the client did not show it or the server no
 * longer knows. */
RECKONER_C_API reckoner_result reckoner_server_pose_seen_by(const reckoner_server* server,
                                                            reckoner_client_id client, reckoner_entity entity,
                                                            double time_s, reckoner_pose* pose);
typedef struct reckoner_seen {
  reckoner_entity entity;
  reckoner_pose pose;
} reckoner_seen;
/* Whether the server can reconstruct what a client showed. While it is RECKONER_REWIND_PENDING, a report of
 * the client is in flight: ask again after the next tick. */
enum reckoner_rewind_status {
  RECKONER_REWIND_KNOWN = 0,
  RECKONER_REWIND_PENDING = 1,
  RECKONER_REWIND_UNAVAILABLE = 2 /* it stays unknown, or the time is outside rewind_s of the settings */
};
RECKONER_C_API reckoner_result reckoner_server_rewind_status(const reckoner_server* server,
                                                             reckoner_client_id client, double time_s,
                                                             uint32_t* status);
/* The poses of all entities that the client showed. Sets `count` to their number. */
RECKONER_C_API reckoner_result reckoner_server_rewind(reckoner_server* server, reckoner_client_id client,
                                                      double time_s, reckoner_seen* seen, size_t capacity,
                                                      size_t* count);

/* Counters since the server was created. */
typedef struct reckoner_server_stats {
  uint32_t struct_size;
  uint32_t clients;  /* now */
  uint32_t entities; /* now */
  uint32_t closing;  /* connections that the server ends and that are not closed yet, now */
  uint64_t ticks, publishes, updates_sent, full_updates_sent, repairs_sent, datagrams_sent, state_bytes_sent,
      datagrams_lost, malformed;
  uint64_t messages_sent, messages_dropped, messages_received, messages_refused;
  uint64_t owned_accepted, owned_corrected, owned_refused;
  uint64_t wire_bytes_sent, wire_bytes_received, transport_refused, transport_errors;
  uint64_t update_bits_sent;                                        /* part of state_bytes_sent */
  uint64_t route_updates_sent, route_bits_sent, route_entity_ticks; /* of entities on routes */
  uint64_t field_changes_sent, field_repairs_sent, field_bits_sent;
  /* publishes by reason; the sum is `publishes` */
  uint64_t published_first, published_owner, published_teleport, published_frame, published_route,
      published_due;
  /* motions of owners that the server ignored */
  uint64_t owned_late, owned_ahead, owned_too_many, owned_void_terms;
  uint64_t wire_datagrams_sent, wire_datagrams_received;
  /* part of wire_bytes: without the headers of network and transport */
  uint64_t payload_bytes_sent, payload_bytes_received;
  uint64_t challenges;       /* answers to requests to join; a flood with forged addresses shows here */
  uint64_t owned_teleports;  /* teleports that owners declared and the server accepted */
  uint64_t times_refused;    /* times more than a day from the others, which no next one confirmed */
  uint64_t events_discarded; /* events discarded because more than 16384 waited to be polled */
} reckoner_server_stats;
RECKONER_C_API reckoner_result reckoner_server_get_stats(const reckoner_server* server,
                                                         reckoner_server_stats* stats);
/* What costs bandwidth: what the server has sent to all clients since it was created, by content. The bits of
 * all contents are 8 * state_bytes_sent. The first five contents belong to an entity. */
enum reckoner_sent_content {
  RECKONER_SENT_FULL_MOTION = 0,      /* a motion that refers to no earlier motion */
  RECKONER_SENT_RESIDUAL_MOTION = 1,  /* a motion as the difference to an earlier one */
  RECKONER_SENT_ROUTE_MOTION = 2,     /* a motion along a route */
  RECKONER_SENT_SPAWN = 3,            /* an entity's name, archetype, first motion and field values */
  RECKONER_SENT_FIELD = 4,            /* changed values of user fields */
  RECKONER_SENT_END = 5,              /* the end of an entity for a client */
  RECKONER_SENT_MESSAGE = 6,          /* unreliable game messages */
  RECKONER_SENT_RELIABLE_MESSAGE = 7, /* the stream of reliable messages, routes, changes of ownership */
  /* heads of datagrams, acknowledgements, refused predictions, marks between sections, padding to bytes */
  RECKONER_SENT_HEADER = 8,
  RECKONER_SENT_PREDICTION = 9 /* reports about inputs, and corrections of predicted entities */
};
/* The name of a content, for example "full_motion"; null after the last one. Later versions append. */
RECKONER_C_API const char* reckoner_sent_content_name(uint32_t content);
/* Number and size, bits, of what was sent: of a content; of a content that belongs to an entity, by
 * archetype, with entities that have ended; and of the changed values of a field. Either pointer may be null.
 * Each call takes some microseconds. RECKONER_ERROR_UNKNOWN for an unknown content, archetype or field. */
RECKONER_C_API reckoner_result reckoner_server_traffic(const reckoner_server* server, uint32_t content,
                                                       uint64_t* count, uint64_t* bits);
RECKONER_C_API reckoner_result reckoner_server_archetype_traffic(const reckoner_server* server,
                                                                 uint32_t archetype, uint32_t content,
                                                                 uint64_t* count, uint64_t* bits);
RECKONER_C_API reckoner_result reckoner_server_field_traffic(const reckoner_server* server,
                                                             uint32_t archetype, uint32_t field,
                                                             uint64_t* count, uint64_t* bits);
/* What one entity has cost since its spawn, summed over all clients. */
typedef struct reckoner_entity_traffic {
  uint32_t struct_size;
  uint32_t archetype;
  uint64_t updates;     /* motions, without those in spawns */
  uint64_t motion_bits; /* their size */
  uint64_t spawn_bits;  /* size of its spawns */
  uint64_t field_bits;  /* size of the changes of its fields */
} reckoner_entity_traffic;
/* RECKONER_ERROR_UNKNOWN for an unknown entity. Set traffic->struct_size. */
RECKONER_C_API reckoner_result reckoner_server_traffic_of(const reckoner_server* server,
                                                          reckoner_entity entity,
                                                          reckoner_entity_traffic* traffic);

/* Figures of one client's session and connection. Bytes include 40 bytes of headers for each datagram: those
 * of ENet, UDP and IPv4. An IPv6 header has 20 bytes more. */
typedef struct reckoner_session_stats {
  uint32_t struct_size;
  uint32_t connected;            /* 0: the connection was lost, and the client may resume */
  double round_trip_s;           /* smoothed; 0: not measured yet */
  double round_trip_deviation_s; /* smoothed mean deviation */
  double loss;                   /* share of the last 200 datagrams, 0 to 1 */
  double sent_bytes_per_second;  /* in the last second */
  double budget_bytes_per_second;
  uint64_t entities;                              /* that the client follows */
  uint64_t queued_motions, queued_spawns;         /* that wait for the budget */
  uint64_t queued_messages, queued_message_bytes; /* reliable ones that wait or are not confirmed */
  double sent_age_s; /* age of the motions that were sent recently, at the time of sending */
  double behind_s;   /* how long the client has lacked the oldest data that it lacks */
  uint64_t datagrams_sent, datagrams_lost, bytes_sent, motions_sent; /* since the client joined */
} reckoner_session_stats;
/* RECKONER_NOTHING if the client has no session. Set stats->struct_size. */
RECKONER_C_API reckoner_result reckoner_server_get_session_stats(const reckoner_server* server,
                                                                 reckoner_client_id client,
                                                                 reckoner_session_stats* stats);
/* Writes up to `capacity` clients in the order of joining, and their number to *count: all that have a
 * session. RECKONER_ERROR_CAPACITY: there are *count clients, and the first `capacity` were written. */
RECKONER_C_API reckoner_result reckoner_server_clients(const reckoner_server* server,
                                                       reckoner_client_id* clients, size_t capacity,
                                                       size_t* count);
/* Refusal counts for a reason (reckoner_refusal_name()): payloads that the server refused and datagrams that
 * the transport refused. Either pointer may be null. RECKONER_ERROR_UNKNOWN for an unknown reason. */
RECKONER_C_API reckoner_result reckoner_server_refused(const reckoner_server* server, uint32_t reason,
                                                       uint64_t* payloads, uint64_t* datagrams);

/* ---- Client ------------------------------------------------------------------------------------------- */

typedef struct reckoner_client reckoner_client;

enum reckoner_mode {
  RECKONER_MODE_PRESENT = 0,
  RECKONER_MODE_ADAPTIVE = 1,
  RECKONER_MODE_DELAYED = 2,
  RECKONER_MODE_AHEAD = 3
};

/* The curves of blends. */
enum reckoner_blend_curve {
  RECKONER_BLEND_CUBIC = 0,
  RECKONER_BLEND_DAMPED = 1 /* fast at the start and soft at the end */
};
/* Named compromises between error and shaking (docs/TUNING.md). */
enum reckoner_blend_profile {
  RECKONER_PROFILE_ARTICLE = 0,  /* the cubic of N. Caldwell's article */
  RECKONER_PROFILE_BALANCED = 1, /* the default */
  RECKONER_PROFILE_ACCURATE = 2, /* the least error: for games in which players aim at each other */
  RECKONER_PROFILE_GENTLE = 3    /* the least shaking: for cameras that follow an entity, and close views */
};
/* Writes the curve and the duration of a profile to `blend_curve` and `blend_s`: the members of these names
 * of reckoner_client_config or reckoner_playout. RECKONER_ERROR_ARGUMENT: there is no such profile. */
RECKONER_C_API reckoner_result reckoner_blend_settings(int32_t profile, int32_t* blend_curve,
                                                       double* blend_s);

typedef struct reckoner_client_config {
  uint32_t struct_size;
  uint32_t archetype_count;             /* the same archetypes in the same order as on the server */
  const reckoner_archetype* archetypes; /* must be given */

  const char* host; /* name or address of the server. Null, with a token and reconnects: the addresses in the
                       token, in order */
  uint16_t port;
  uint16_t reserved;
  int32_t insecure;     /* 1: the server is insecure, and there is no token */
  const uint8_t* token; /* 1024 bytes, see reckoner_issue_token(); valid once */
  uint64_t game;        /* as on the server */

  /* RECKONER_MODE_PRESENT: the present, by prediction. RECKONER_MODE_AHEAD: the time of the player's inputs
   * (reckoner_client_next_step()), by prediction; the present until the game steps ticks. The others: the
   * past, by interpolation. */
  int32_t mode;
  /* 1: a thread reads the socket as soon as data arrives. The clock is then exact on every system if the game
   * calls update only once per picture, and the connection stays alive while the game loads a level. All
   * calls and the log stay on the thread of the game. */
  int32_t receive_thread;
  double delay_s;      /* delay of RECKONER_MODE_DELAYED */
  double max_delay_s;  /* largest delay of RECKONER_MODE_ADAPTIVE beyond one tick of the server */
  double blend_s;      /* duration of a blend; 0: corrections snap */
  double show_ahead_s; /* what is shown is ahead of the time of update by this: the time until a picture
                          appears on the screen */

  double ack_interval_s;           /* time between acknowledgements */
  double silence_s;                /* after this time without datagrams, shown entities fade to rest */
  double unconfirmed_s;            /* an entity whose motion is unconfirmed for this time fades to rest */
  double owned_updates_per_second; /* budget of each owned entity; 0: thresholds decide */

  reckoner_log_function log; /* null: no log */
  void* log_user;            /* first argument of the log function */
  int32_t log_least;         /* RECKONER_LOG_INFO: lowest level that is logged */
  int32_t reconnects;        /* 1: reconnects when the connection is lost after the client has joined */

  /* How the client reconnects. With reconnects, reckoner_client_create() succeeds even if the host is
   * unknown; the client reports it after the first update. */
  double reconnect_silence_s;    /* a connection without datagrams for this time is lost */
  double reconnect_first_wait_s; /* longest wait before the first attempt, and before another server */
  double reconnect_growth;       /* factor of the wait after all servers were tried in vain */
  double reconnect_most_wait_s;  /* longest wait */
  double reconnect_jitter;       /* random share of each wait */
  double reconnect_attempt_s;    /* an attempt fails after this time */
  double reconnect_give_up_s;    /* the client is disconnected after this time; 0: never */
  uint32_t max_entities;         /* entities that the client keeps at once; it refuses more */
  uint32_t reserved2;
  const char* transport;        /* as on the server; null: "udp" with a token, "enet" if insecure */
  uint32_t input_delay_ticks;   /* an input takes effect this number of ticks after the game gives it */
  uint32_t inputs_per_datagram; /* every datagram with inputs carries at least this number of new ones */
  int32_t blend_curve;          /* RECKONER_BLEND_DAMPED; see reckoner_blend_settings() */
  int32_t reserved3;
} reckoner_client_config;
RECKONER_C_API void reckoner_client_config_init(reckoner_client_config* config, uint32_t struct_size);

/* Starts to connect and then joins. On failure, writes the reason to `why`, if that is not null. */
RECKONER_C_API reckoner_result reckoner_client_create(const reckoner_client_config* config,
                                                      reckoner_client** client, char* why, size_t why_size);
/* Ends the connection at once. After reckoner_client_leave(), the server knows that the client has left;
 * otherwise it keeps the session for a while, as after a lost connection. */
RECKONER_C_API void reckoner_client_destroy(reckoner_client* client);

/* For each picture: update, poll events and messages, then shown() or shown_poses(), and flush() if messages
 * were sent. local_s is the time of any monotonic clock, s; all other functions use the time of the last
 * update. A game that draws more often than it processes input calls update before each picture; it is cheap.
 */
RECKONER_C_API reckoner_result reckoner_client_update(reckoner_client* client, double local_s);
RECKONER_C_API reckoner_result reckoner_client_wait(reckoner_client* client, double seconds);
/* Leaves the server for good. Continue to call update until the status is RECKONER_STATUS_DISCONNECTED, in a
 * game for example at most 2 s: the client first sends the reliable messages that the server still lacks, for
 * at most 10 s, and then ends the connection. Without such messages, this takes a round trip. */
RECKONER_C_API reckoner_result reckoner_client_leave(reckoner_client* client);

enum reckoner_status {
  RECKONER_STATUS_CONNECTING = 0,
  RECKONER_STATUS_JOINING = 1,
  RECKONER_STATUS_JOINED = 2,
  RECKONER_STATUS_REFUSED = 3,
  RECKONER_STATUS_DISCONNECTED = 4,
  RECKONER_STATUS_RECONNECTING = 5 /* lost its connection and reconnects: shown entities fade to rest */
};
/* The status; -1 for null. */
RECKONER_C_API int32_t reckoner_client_status(const reckoner_client* client);
/* Why the client was refused or disconnected; empty otherwise. */
RECKONER_C_API const char* reckoner_client_refusal(const reckoner_client* client);
/* Time from the loss of the connection to the last update, s; 0 while the client does not reconnect. */
RECKONER_C_API reckoner_result reckoner_client_lost_for(const reckoner_client* client, double* seconds);
/* Gives a reconnecting client a new token from the backend, for when its ticket has expired (ticket_s).
 * RECKONER_ERROR_REFUSED for a client without reconnects and for an insecure one. */
RECKONER_C_API reckoner_result reckoner_client_set_token(reckoner_client* client, const uint8_t token[1024]);
/* The ticket with which the client can join again, once, without its backend. RECKONER_NOTHING before it has
 * joined. */
RECKONER_C_API reckoner_result reckoner_client_ticket(const reckoner_client* client, uint8_t token[1024]);

enum reckoner_client_event_kind {
  RECKONER_CLIENT_EVENT_JOINED = 0,
  RECKONER_CLIENT_EVENT_SPAWNED = 1,
  RECKONER_CLIENT_EVENT_DESPAWNED = 2,
  RECKONER_CLIENT_EVENT_TELEPORTED = 3,
  RECKONER_CLIENT_EVENT_FIELDS_CHANGED = 4, /* `fields` has a bit for each changed field */
  RECKONER_CLIENT_EVENT_GIVEN = 5,          /* this client owns it: continue from reckoner_client_owned() */
  RECKONER_CLIENT_EVENT_REVOKED = 6,        /* this client no longer owns it */
  RECKONER_CLIENT_EVENT_CORRECTED = 7,      /* refused: continue from reckoner_client_owned() */
  RECKONER_CLIENT_EVENT_SERVER_CLOSED = 8,
  RECKONER_CLIENT_EVENT_DISCONNECTED = 9,       /* the client does not reconnect */
  RECKONER_CLIENT_EVENT_LOST = 10,              /* the connection is lost; the client reconnects */
  RECKONER_CLIENT_EVENT_RESUMED = 11,           /* the session is resumed; no reliable message is lost */
  RECKONER_CLIENT_EVENT_RESTARTED = 12,         /* a new session, the old one is lost. All entities are new */
  RECKONER_CLIENT_EVENT_PREDICTION_FAILED = 13, /* `entity`: what reckoner_client_predict_spawn() returned */
  RECKONER_CLIENT_EVENT_SNAPPED = 14,           /* after a silence or a pause, its pose jumped */
  RECKONER_CLIENT_EVENT_PREDICTION_BEGAN = 15,  /* the game predicts it: poll corrections for its state */
  RECKONER_CLIENT_EVENT_PREDICTION_ENDED = 16   /* it is shown like the entities of others from now on */
};
typedef struct reckoner_client_event {
  uint32_t struct_size;
  int32_t kind;
  reckoner_entity entity;
  uint32_t fields;
  uint32_t reserved;
  reckoner_entity predicted; /* of SPAWNED: the predicted entity that `entity` replaces; 0: none */
} reckoner_client_event;
/* Set event->struct_size. Ignore events of unknown kinds. */
RECKONER_C_API reckoner_result reckoner_client_poll_event(reckoner_client* client,
                                                          reckoner_client_event* event);
RECKONER_C_API reckoner_result reckoner_client_poll_message(reckoner_client* client,
                                                            reckoner_message* message);
RECKONER_C_API reckoner_result reckoner_client_send(reckoner_client* client, const void* bytes, size_t size,
                                                    int32_t delivery, const double* time_s);
/* Sends now what waits for the next update: messages, changed playout settings and acknowledgements. Call it
 * after the last send before a picture; otherwise the messages wait until the next one. Does nothing without
 * a connection. */
RECKONER_C_API reckoner_result reckoner_client_flush(reckoner_client* client);

/* An entity as the game draws it in a picture. */
typedef struct reckoner_shown {
  uint32_t struct_size;
  uint32_t archetype;
  reckoner_entity entity;
  reckoner_state state;  /* continuous from picture to picture */
  double shown_time_s;   /* server time of `state` */
  double age_s;          /* present server time minus the time stamp of the motion in use */
  reckoner_entity frame; /* entity in whose frame it is; 0: the world */
  reckoner_state local;  /* `state` in coordinates of the frame */
  int32_t on_route;      /* 1: its pose is on a route */
  int32_t reserved;
} reckoner_shown;
/* All visible entities. `element_size`: sizeof(reckoner_shown). Sets `count` to their number;
 * RECKONER_ERROR_CAPACITY if the array is too short. There are none before the clock is synchronised. */
RECKONER_C_API reckoner_result reckoner_client_shown(reckoner_client* client, reckoner_shown* shown,
                                                     uint32_t element_size, size_t capacity, size_t* count);
/* One entity; RECKONER_NOTHING while it is not visible. Set shown->struct_size. */
RECKONER_C_API reckoner_result reckoner_client_shown_one(reckoner_client* client, reckoner_entity entity,
                                                         reckoner_shown* shown);

/* The poses of all visible entities as arrays in the same order, about ten times as fast. */
typedef struct reckoner_poses {
  uint32_t struct_size;
  uint32_t reserved;
  size_t count;
  const reckoner_entity* entities;
  const double* positions;   /* x, y, z of each, m */
  const float* orientations; /* x, y, z, w of each */
  double shown_time_s;
} reckoner_poses;
/* Set poses->struct_size. */
RECKONER_C_API reckoner_result reckoner_client_shown_poses(reckoner_client* client, reckoner_poses* poses);

/* Like reckoner_client_shown_poses(), but writes up to `capacity` poses into the caller's arrays: x, y, z and
 * x, y, z, w of each. `shown_time_s` may be null, and so may the arrays if the capacity is 0. Sets `count` to
 * the number of visible entities; RECKONER_ERROR_CAPACITY if the arrays are too short. */
RECKONER_C_API reckoner_result reckoner_client_shown_poses_into(reckoner_client* client,
                                                                reckoner_entity* entities, double* positions,
                                                                float* orientations, size_t capacity,
                                                                size_t* count, double* shown_time_s);

/* Freezes what this client shows (for a menu or a screenshot). The server and other clients continue; keep
 * calling update and the polls. After the pause, the client catches up within half a second, continuous in
 * position and velocity. What is too far away for this jumps (RECKONER_CLIENT_EVENT_SNAPPED). */
RECKONER_C_API reckoner_result reckoner_client_set_paused(reckoner_client* client, int32_t paused);

/* Which instant the client shows and how it blends corrections in; as in reckoner_client_config. */
typedef struct reckoner_playout {
  uint32_t struct_size;
  int32_t mode;        /* RECKONER_MODE_PRESENT */
  double delay_s;      /* delay of RECKONER_MODE_DELAYED */
  double max_delay_s;  /* largest delay of RECKONER_MODE_ADAPTIVE beyond one tick of the server */
  double blend_s;      /* duration of a blend; 0: corrections snap */
  int32_t blend_curve; /* RECKONER_BLEND_DAMPED */
  int32_t reserved;
} reckoner_playout;
RECKONER_C_API void reckoner_playout_init(reckoner_playout* playout, uint32_t struct_size);
/* Changes the playout and reports it to the server. There is no jump: the shown time runs up to a quarter
 * slower or faster until the delay is the new one (a difference of 200 ms takes 1.6 s). */
RECKONER_C_API reckoner_result reckoner_client_set_playout(reckoner_client* client,
                                                           const reckoner_playout* playout);

/* The name of an entity that is shown or was just removed; null if unknown. */
RECKONER_C_API const char* reckoner_client_name(const reckoner_client* client, reckoner_entity entity);
/* What reckoner_server_spawn_short_lived() sent with an entity: data, valid until the next call that changes
 * the client, and the server time of the end, infinite if it is not known. Any pointer may be null.
 * RECKONER_NOTHING if the entity is not short-lived. */
RECKONER_C_API reckoner_result reckoner_client_short_lived(const reckoner_client* client,
                                                           reckoner_entity entity, const uint8_t** data,
                                                           size_t* size, double* end_s);
/* A number that the game keeps with an entity, 0 at first, as long as reckoner_client_name() knows it. */
RECKONER_C_API reckoner_result reckoner_client_set_user_value(reckoner_client* client, reckoner_entity entity,
                                                              uint64_t value);
RECKONER_C_API reckoner_result reckoner_client_user_value(const reckoner_client* client,
                                                          reckoner_entity entity, uint64_t* value);
/* The value at the last shown instant. */
RECKONER_C_API reckoner_result reckoner_client_field(const reckoner_client* client, reckoner_entity entity,
                                                     uint32_t field, reckoner_value* value);
/* Estimated server time at the last update; RECKONER_NOTHING before the first answer. */
RECKONER_C_API reckoner_result reckoner_client_server_time(const reckoner_client* client,
                                                           double* server_time_s);
/* Replaces the shown state, for example after the game pushed the entity out of a wall. Blending continues
 * from there. */
RECKONER_C_API reckoner_result reckoner_client_correct(reckoner_client* client, reckoner_entity entity,
                                                       const reckoner_state* shown);
/* Like reckoner_client_correct(), for a hit that the game anticipates: the entity continues from `shown`,
 * with its velocity and acceleration, until a motion with the hit has arrived, for at most `anticipated_s`, 0
 * to 10 s. */
RECKONER_C_API reckoner_result reckoner_client_anticipate(reckoner_client* client, reckoner_entity entity,
                                                          const reckoner_state* shown, double anticipated_s);
/* Sets the origin of the coordinates that the client returns and accepts from now on, m. */
RECKONER_C_API reckoner_result reckoner_client_set_origin(reckoner_client* client, const double origin[3]);
/* Sets the state of an entity that this client owns, at the time of the last update. Call it after each
 * update. */
RECKONER_C_API reckoner_result reckoner_client_move(reckoner_client* client, reckoner_entity entity,
                                                    const reckoner_state* state);
/* Sets the state in coordinates of another entity's frame (reckoner_into_frame()); 0: the world. The entity
 * is shown relative to the shown frame. If the frame is a new one, the entity enters it. */
RECKONER_C_API reckoner_result reckoner_client_move_in(reckoner_client* client, reckoner_entity entity,
                                                       const reckoner_state* state, reckoner_entity frame);
/* Like reckoner_client_move_in(), but the entity jumps there: no client blends. The server must allow it
 * (reckoner_ownership_rules, max_teleport_m), and otherwise corrects the owner. */
RECKONER_C_API reckoner_result reckoner_client_teleport(reckoner_client* client, reckoner_entity entity,
                                                        const reckoner_state* state, reckoner_entity frame);
/* Shows an entity at once that the game expects the server to spawn, such as the player's own projectile. The
 * game sends `key` to the server's game, which passes it to reckoner_server_spawn_short_lived().
 * RECKONER_CLIENT_EVENT_SPAWNED then names the returned entity in `predicted`, and the server's entity
 * continues from the predicted pose. After `patience_s`, or if the server's game refuses:
 * RECKONER_CLIENT_EVENT_PREDICTION_FAILED. At most 64 at a time. */
RECKONER_C_API reckoner_result reckoner_client_predict_spawn(reckoner_client* client, uint32_t archetype,
                                                             const reckoner_state* state, uint32_t key,
                                                             double patience_s, reckoner_entity* entity);
/* Ends a predicted entity without an event. */
RECKONER_C_API reckoner_result reckoner_client_drop_prediction(reckoner_client* client,
                                                               reckoner_entity entity);

/* The player's own body. For each picture: update, poll events, then reckoner_client_poll_correction(): if
 * there is one, restore its entities and step its steps again. Then reckoner_client_next_step() until it
 * returns RECKONER_NOTHING: step the predicted entities. After every step, in both loops, pass the state of
 * each predicted entity to reckoner_client_predict(). */

/* A tick that the client's game steps. This struct never changes. */
typedef struct reckoner_prediction_step {
  uint32_t tick; /* the server's tick */
  uint32_t input_size;
  const uint8_t* input; /* what the player does in this tick; null if the size is 0 */
} reckoner_prediction_step;
/* The tick that the game must step now. `input`, at most 64 bytes, is what the player does now: it is sent
 * for this tick, or with input_delay_ticks for a later one; it may be null if the size is 0. Each tick comes
 * once, except for some that are left out after a stall. RECKONER_NOTHING: no tick is due, or the client has
 * not joined or is paused. step->input is valid until the next call of this function or of update. */
RECKONER_C_API reckoner_result reckoner_client_next_step(reckoner_client* client, const void* input,
                                                         size_t input_size, reckoner_prediction_step* step);
/* What the game has computed for an entity that it predicts: its state after `tick`, a tick of
 * reckoner_client_next_step() or of a correction. `game_state` are the bytes that the server's game sets with
 * reckoner_server_set_game_state(), at most 128; it may be null if the size is 0. When each predicted entity
 * has a state for the newest tick, inputs and results are sent. */
RECKONER_C_API reckoner_result reckoner_client_predict(reckoner_client* client, reckoner_entity entity,
                                                       uint32_t tick, const reckoner_state* state,
                                                       const void* game_state, size_t game_state_size);
enum reckoner_correction_reason {
  RECKONER_CORRECTION_BEGINS = 0,        /* the client predicts other entities now, or its session resumed */
  RECKONER_CORRECTION_INPUT_MISSING = 1, /* an input was missing, so the server repeated the one before */
  RECKONER_CORRECTION_DIFFERS = 2,       /* the client's result was another one: a contact, another player */
  RECKONER_CORRECTION_TELEPORTED = 3     /* the server's game has teleported a predicted entity */
};
/* Why a correction came, as far as the client can know it (docs/prediction.md). More may become known in the
 * round trip after it. */
enum reckoner_correction_cause {
  RECKONER_CAUSE_BEGINS = 0,     /* RECKONER_CORRECTION_BEGINS */
  RECKONER_CAUSE_TELEPORTED = 1, /* RECKONER_CORRECTION_TELEPORTED */
  RECKONER_CAUSE_INPUT_MISSING =
      2,                         /* the server had no input in time, or no results; nothing more is known */
  RECKONER_CAUSE_INPUT_LATE = 3, /* an input came after its tick: the client had sent it too late */
  RECKONER_CAUSE_INPUT_LOST = 4, /* an input came after its tick: its datagram was lost or held up */
  RECKONER_CAUSE_GAME_STATE = 5, /* only the bytes of the game differed */
  RECKONER_CAUSE_SMALL_DIFFERENCE = 6, /* no result was off by more than 3 tolerances */
  RECKONER_CAUSE_DIFFERS = 7           /* a larger difference: a contact, another player, another step */
};
/* The exact state of a predicted entity, as the server has it. This struct never changes. */
typedef struct reckoner_corrected_entity {
  reckoner_entity entity;
  reckoner_state state;
  const uint8_t* game_state; /* the bytes of reckoner_server_set_game_state(); null if the size is 0 */
  size_t game_state_size;
} reckoner_corrected_entity;
typedef struct reckoner_correction {
  uint32_t struct_size;
  int32_t reason; /* RECKONER_CORRECTION_BEGINS...; later versions append */
  uint32_t tick;  /* the states are those after this tick */
  uint32_t entity_count;
  const reckoner_corrected_entity* entities; /* every entity that the client predicts */
  const reckoner_prediction_step* steps;     /* the ticks since, oldest first: step them again */
  uint32_t step_count;
  uint32_t reserved;
} reckoner_correction;
/* The server's states of all predicted entities after one tick, if the game must go back to them. Set
 * correction->struct_size. What is shown then goes over into the new path without a jump. The arrays and
 * their bytes are valid until the next call of this function, of reckoner_client_next_step() or of update. */
RECKONER_C_API reckoner_result reckoner_client_poll_correction(reckoner_client* client,
                                                               reckoner_correction* correction);

/* The reason why the last call with this client failed: RECKONER_CALL_... 0: it did not fail, or there is no
 * reason besides its result. A call that returns RECKONER_ERROR_ARGUMENT may leave the value of an earlier
 * call. */
RECKONER_C_API uint32_t reckoner_client_call_error(const reckoner_client* client);
/* The state from which the client continues after the entity was given or corrected, in the frame
 * reckoner_client_owned_frame(). RECKONER_NOTHING if this client does not own it. */
RECKONER_C_API reckoner_result reckoner_client_owned(const reckoner_client* client, reckoner_entity entity,
                                                     reckoner_state* state);

/* The frame of an owned entity. RECKONER_NOTHING and 0: the world, or this client does not own it. */
RECKONER_C_API reckoner_result reckoner_client_owned_frame(const reckoner_client* client,
                                                           reckoner_entity entity, reckoner_entity* frame);

/* The motion of an entity at this server time, s, in world coordinates, without blends and corrections:
 * interpolated between the motions that the client knows, and extrapolated after the newest one. Unlike the
 * shown state, its velocity and acceleration are those of the motion alone; between two known motions the
 * acceleration is zero. For the motion behind a drawn pose, pass its shown_time_s. RECKONER_NOTHING: the
 * client does not show the entity, or does not know its motion at that time. */
RECKONER_C_API reckoner_result reckoner_client_motion_at(const reckoner_client* client,
                                                         reckoner_entity entity, double server_time_s,
                                                         reckoner_state* state);

/* Debug data of an entity as it was last shown, in world coordinates: the shown state and the motion behind
 * it. */
typedef struct reckoner_shown_debug {
  uint32_t struct_size;
  uint32_t reserved;
  reckoner_entity entity;
  reckoner_state shown;  /* the drawn state */
  reckoner_state motion; /* the known motion at the same instant, without the blend */
  double shown_time_s;   /* server time of that instant */
  double motion_time_s;  /* time stamp of the newest motion */
  double age_s;          /* present server time minus motion_time_s */
  double blend_m;        /* distance between the shown state and the motion, because of the blend */
  double blend_rad;
  double blend_left_s; /* remaining time of the blend; 0: there is no blend */
  double threshold_m;  /* the archetype's thresholds, from the server */
  double threshold_rad;
  reckoner_entity frame; /* entity in whose frame it is; 0: the world */
  int32_t fading;        /* 1: its motion is unconfirmed for too long, and it fades to rest */
  int32_t owned;         /* 1: this client owns it */
  /* of an entity that this client's game predicts and has computed; `motion` is then what the game has
   * computed */
  int32_t predicted;               /* 1: it is; 0: the members below are 0 */
  int32_t corrected;               /* 1: the game has taken a correction with it; 0: those of it are 0 */
  uint64_t prediction_ticks;       /* ticks that the game has computed for it, without those of replays */
  double prediction_lead_s;        /* how far the inputs are ahead of the server */
  double prediction_fading_m;      /* the part of an error that still fades */
  uint32_t prediction_newest;      /* the newest tick that the game has computed */
  uint32_t prediction_corrections; /* corrections that the game has taken in this session, for any entity */
  uint32_t correction_tick;        /* of the newest correction */
  int32_t correction_reason;       /* RECKONER_CORRECTION_BEGINS...; later versions append */
  int32_t correction_cause;        /* RECKONER_CAUSE_BEGINS...; later versions append */
  int32_t correction_had_result;   /* 1: the game had computed the entity for that tick */
  double correction_age_s;         /* time since the game has taken it */
  double correction_error_m;       /* distance of the game's result from the server's state */
  double correction_error_rad;     /* angle between their orientations */
  double correction_input_late_s;  /* how long after its tick the input came, at least; 0 with other causes */
  uint32_t correction_input_tick;  /* the tick of that input */
  int32_t correction_game_state_differs; /* 1: the bytes of the game were others */
} reckoner_shown_debug;
/* Set debug->struct_size. RECKONER_NOTHING if the entity was not shown. */
RECKONER_C_API reckoner_result reckoner_client_debug(const reckoner_client* client, reckoner_entity entity,
                                                     reckoner_shown_debug* debug);

typedef struct reckoner_client_stats {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t datagrams_received, datagrams_lost, datagrams_stale, updates_applied, updates_stale, malformed,
      unknown_references, state_bytes_received, corrections;
  uint64_t messages_sent, messages_dropped, messages_received, messages_refused;
  uint64_t wire_bytes_sent, wire_bytes_received, transport_refused, transport_errors;
  double round_trip_s; /* smallest of the recent ones */
  double delay_s;      /* delay of the shown time behind server time */
  uint64_t field_changes_applied, field_changes_stale;
  uint64_t connections_lost;   /* whether the client reconnected or not */
  uint64_t messages_abandoned; /* reliable messages without confirmation at the end of their session */
  uint64_t wire_datagrams_sent, wire_datagrams_received;
  /* part of wire_bytes: without the headers of network and transport */
  uint64_t payload_bytes_sent, payload_bytes_received;
  uint64_t entities_refused; /* beyond max_entities, or in the frame of such an entity; they are not shown */
  /* local times that were ignored because they were far from the time before, and not confirmed by the next
     one; a clock that is set back counts once */
  uint64_t times_refused;
  double clock_rate;         /* seconds of the server's clock per second of the game's clock, as corrected */
  uint64_t events_discarded; /* events discarded because more than 131072 waited to be polled */
  uint64_t mispredictions;   /* corrections of predicted entities */
  double input_lead_s;       /* how far the player's inputs are ahead of the server's time */
} reckoner_client_stats;
RECKONER_C_API reckoner_result reckoner_client_get_stats(const reckoner_client* client,
                                                         reckoner_client_stats* stats);
/* Like reckoner_server_refused(), for payloads and datagrams of the server. */
RECKONER_C_API reckoner_result reckoner_client_refused(const reckoner_client* client, uint32_t reason,
                                                       uint64_t* payloads, uint64_t* datagrams);

#ifdef __cplusplus
}
#endif

#endif
