/* SPDX-License-Identifier: MIT
 *
 * Reckoner for C, and for whatever can call C: shows other people's moving things smoothly over a bad
 * network.
 *
 * Conventions
 * - Time is the caller's: seconds on any clock that never goes back. The library reads none.
 * - SI units, a right-handed world; orientations are unit quaternions x, y, z, w, body to world; angular
 *   velocity in rad/s about the world's axes.
 * - Functions return RECKONER_OK (0), RECKONER_NOTHING (1: nothing there, an answer like any other), or a
 *   negative error; reckoner_error_text() says what it means. Nothing is thrown, and what failed has changed
 *   nothing.
 * - Sized structs begin with struct_size. The _init() function of a struct fills it in, with the defaults:
 *   pass sizeof. Later versions only append members, so that programs go on working with newer libraries
 *   without being compiled again. In an array of them all have the same struct_size. Structs without it
 *   never change.
 * - Texts are UTF-8 and end with 0. Pointers that the library gives out die with the next call that takes
 *   the same handle and is not const, unless something else is said.
 * - A handle belongs to one thread at a time; different ones are independent. Null handles are refused, and
 *   destroying one does nothing.
 * - IPv4 and UDP.
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
enum {
  RECKONER_OK = 0,
  RECKONER_NOTHING = 1,         /* no event, no message, not known yet */
  RECKONER_ERROR_ARGUMENT = -1, /* a null pointer, or an invalid value */
  RECKONER_ERROR_STRUCT = -2,   /* a struct_size that is none, or members that this library does not know */
  RECKONER_ERROR_UNKNOWN = -3,  /* no such entity, client, route or field */
  RECKONER_ERROR_REFUSED = -4,  /* it makes sense, but cannot be done now or here */
  RECKONER_ERROR_NETWORK = -5,  /* no socket, no such host */
  RECKONER_ERROR_MEMORY = -6,   /* there is none left */
  RECKONER_ERROR_CAPACITY = -7, /* the caller's array is too short; the count says how long it must be */
  RECKONER_ERROR_INTERNAL = -8  /* a fault in the library */
};

/* What a result means, in English. Never null; lives for ever. */
RECKONER_C_API const char* reckoner_error_text(reckoner_result result);

/* "0.1.0", and the version of the protocol, which both ends must share. */
RECKONER_C_API const char* reckoner_version(void);
RECKONER_C_API uint32_t reckoner_protocol_version(void);

/* What happens inside a server or a client, for an operator or a programmer. It is called by the thread that
 * is in one of their functions, must not call any, and must return. All that it is given dies with the call.
 */
enum { RECKONER_LOG_DEBUG = 0, RECKONER_LOG_INFO = 1, RECKONER_LOG_WARNING = 2, RECKONER_LOG_ERROR = 3 };
enum {
  RECKONER_LOG_BOOLEAN = 0,
  RECKONER_LOG_INTEGER = 1,
  RECKONER_LOG_UNSIGNED = 2,
  RECKONER_LOG_REAL = 3,
  RECKONER_LOG_TEXT = 4
};
typedef struct reckoner_log_field {
  const char* name;
  int32_t type; /* which of these counts: */
  uint32_t reserved;
  int64_t integer;           /* RECKONER_LOG_INTEGER, and RECKONER_LOG_BOOLEAN as 0 or 1 */
  uint64_t unsigned_integer; /* RECKONER_LOG_UNSIGNED */
  double real;               /* RECKONER_LOG_REAL */
  const char* text;          /* RECKONER_LOG_TEXT; null for the others */
} reckoner_log_field;
typedef struct reckoner_log_record {
  uint32_t struct_size; /* of this library's version: look at nothing beyond it */
  int32_t level;
  const char* event; /* what happened: a fixed text, "client refused" */
  const char* line;  /* with what is known of it: "client refused reason=full peer=3" */
  const reckoner_log_field* fields;
  uint32_t field_count;
  uint32_t reserved;
} reckoner_log_record;
typedef void (*reckoner_log_function)(void* user, const reckoner_log_record* record);

/* Where the network's memory comes from, for the whole process; null for malloc and free. The rest comes from
 * C++'s operator new. RECKONER_ERROR_REFUSED while there is a server or a client. */
RECKONER_C_API reckoner_result reckoner_set_allocator(void* (*allocate)(size_t bytes),
                                                      void (*release)(void* memory));

/* ---- Plain values ------------------------------------------------------------------------------------- */

typedef uint64_t reckoner_entity; /* 0: none. Outlives its entity harmlessly */
typedef uint32_t reckoner_peer;   /* a client as the server knows it; 0: none. Never used twice */
typedef uint32_t reckoner_route;  /* 0: none */

/* How a thing moves at one instant. */
typedef struct reckoner_state {
  double position[3];        /* m */
  float velocity[3];         /* m/s */
  float acceleration[3];     /* m/s^2 */
  float orientation[4];      /* x, y, z, w */
  float angular_velocity[3]; /* rad/s */
} reckoner_state;

/* At rest at the origin, not turned. */
RECKONER_C_API void reckoner_state_init(reckoner_state* state);

typedef struct reckoner_pose {
  double position[3];   /* m */
  float orientation[4]; /* x, y, z, w */
} reckoner_pose;

/* The value of a user field. */
enum { RECKONER_BOOLEAN = 0, RECKONER_INTEGER = 1, RECKONER_REAL = 2, RECKONER_BLOB = 3 };
typedef struct reckoner_value {
  int32_t type;       /* which of these counts: */
  uint32_t blob_size; /* RECKONER_BLOB, at most 64 */
  int64_t integer;    /* RECKONER_INTEGER, and RECKONER_BOOLEAN as 0 or 1 */
  double real;        /* RECKONER_REAL */
  uint8_t blob[64];
} reckoner_value;

/* A state that is told in the frame of another (a passenger's on a ship), seen from outside, in whatever that
 * other is told in; and the inverse. Rigid bodies: velocity and acceleration too. The result may be either of
 * the others. */
RECKONER_C_API void reckoner_out_of_frame(const reckoner_state* frame, const reckoner_state* local,
                                          reckoner_state* outer);
RECKONER_C_API void reckoner_into_frame(const reckoner_state* frame, const reckoner_state* outer,
                                        reckoner_state* local);

/* Game time as a function of real time, for slow motion and a world that stands still: call servers and
 * clients with what it gives instead of real time. It goes over from one pace to another without a jump in
 * time or in pace, so that what is shown is continuous in position and velocity. Server and clients must
 * change together: tell clients ahead, in a reliable message, from which server time on, and let each do it
 * when reckoner_client_server_time() comes there. All of Reckoner runs in game time, velocities included. The
 * members say what was asked of it. */
typedef struct reckoner_clock {
  double real_s;     /* when the newest change began, real time */
  double game_s;     /* game time then */
  double scale;      /* game seconds per real second then */
  double next_scale; /* and after the change */
  double ease_s;     /* how long it takes, s of real time */
} reckoner_clock;
/* Runs as real time does; game time is `game_s` at `real_s`. */
RECKONER_C_API void reckoner_clock_init(reckoner_clock* clock, double real_s, double game_s);
/* Another pace, 0 to 100, from `real_s` on, evenly in `ease_s` (0.25 does well; 0: at once, with a jump in
 * velocity). */
RECKONER_C_API reckoner_result reckoner_clock_set_scale(reckoner_clock* clock, double scale, double real_s,
                                                        double ease_s);
/* Game time, and game seconds per real second, at a real time; 0 for null. */
RECKONER_C_API double reckoner_clock_at(const reckoner_clock* clock, double real_s);
RECKONER_C_API double reckoner_clock_scale_at(const reckoner_clock* clock, double real_s);
/* When game time will be `game_s`: to sleep until a tick. Infinity if it stands still before. */
RECKONER_C_API double reckoner_clock_real_time_of(const reckoner_clock* clock, double game_s);

/* What was not taken in is counted by reason, 0 and up: its name, as "malformed"; null from the first that
 * there is not. Later versions append reasons. */
RECKONER_C_API const char* reckoner_refusal_name(uint32_t reason);

/* ---- Kinds of entity: the same, in the same order, on the server and on every client ------------------ */

/* One thing that is told about every entity of a kind beside its motion: health, an animation. */
typedef struct reckoner_field_spec {
  uint32_t struct_size;
  int32_t type;           /* RECKONER_BOOLEAN... */
  const char* name;       /* at most 32 bytes */
  int64_t integer_least;  /* 0; the number travels in as many bits as the range takes */
  int64_t integer_most;   /* 255 */
  double real_least;      /* 0 */
  double real_most;       /* 1 */
  double real_step;       /* 0.001; travels, and is read back on both sides, rounded to it */
  uint32_t most_bytes;    /* 64, of a blob */
  uint32_t reserved;      /* 0 */
  reckoner_value initial; /* 0, false, empty; its type is not looked at */
} reckoner_field_spec;
RECKONER_C_API void reckoner_field_spec_init(reckoner_field_spec* spec, uint32_t struct_size);

typedef struct reckoner_archetype {
  uint32_t struct_size;
  uint32_t field_count;              /* 0, at most 32 */
  const char* name;                  /* "entity"; at most 32 bytes */
  const reckoner_field_spec* fields; /* null */
  double threshold_m;                /* 0.05: clients may be off by so much, m, before they are told */
  double threshold_rad;              /* 0.05 */
  double max_speed_mps;              /* 1000; faster is refused */
  double world_size_m;               /* 100000; further from the origin is refused */
  int32_t has_orientation;           /* 1; 0: never sent */
  int32_t never_reverses;            /* 0; 1: what slows down is taken to come to rest, as cars do */
} reckoner_archetype;
RECKONER_C_API void reckoner_archetype_init(reckoner_archetype* archetype, uint32_t struct_size);

/* ---- Keys and tokens: who may join -------------------------------------------------------------------- */

enum { RECKONER_KEY_BYTES = 32, RECKONER_TOKEN_BYTES = 1024, RECKONER_USER_BYTES = 256 };

/* An IPv4 address and a UDP port, both in the machine's byte order: 127.0.0.1 is 0x7f000001. */
typedef struct reckoner_address {
  uint32_t host;
  uint16_t port;
  uint16_t reserved;
} reckoner_address;

/* 32 new secret bytes from the system's random numbers; for servers, and for backends that issue tokens. */
RECKONER_C_API reckoner_result reckoner_make_key(uint8_t key[32]);
/* As files of `reckoner-token` hold it: 64 hexadecimal digits, blanks at the ends aside; and back, with the 0
 * at its end. */
RECKONER_C_API reckoner_result reckoner_key_from_text(const char* text, uint8_t key[32]);
RECKONER_C_API reckoner_result reckoner_key_to_text(const uint8_t key[32], char text[65]);

/* What a backend lets a client do: join one of some servers, until a point in time, as somebody. */
typedef struct reckoner_grant {
  uint32_t struct_size;
  uint32_t server_count;           /* 1 to 32 */
  const reckoner_address* servers; /* under which clients reach them */
  uint64_t client_id;              /* the backend's name for the client, who is there once under it */
  uint64_t expires_s;              /* seconds since 1970 */
  uint64_t game;                   /* tells apart games that share a key */
  const uint8_t* user_data;        /* for the server's game, or null */
  uint32_t user_data_size;         /* at most 256 */
  uint32_t reserved;
  uint64_t renewable_until_s; /* until when the client may come back by itself with tickets, seconds since
                                 1970; 0: a day after expires_s */
  uint64_t issued_ms; /* when the player has logged in, milliseconds since 1970; 0: now. Of two tokens of
                         one client id the one issued later wins */
} reckoner_grant;
RECKONER_C_API void reckoner_grant_init(reckoner_grant* grant, uint32_t struct_size);

/* Makes a token, which is good once, for a client to join with. */
RECKONER_C_API reckoner_result reckoner_issue_token(const reckoner_grant* grant, const uint8_t key[32],
                                                    uint8_t token[1024]);

/* ---- Server ------------------------------------------------------------------------------------------- */

typedef struct reckoner_server reckoner_server;

typedef struct reckoner_server_config {
  uint32_t struct_size;
  uint32_t archetype_count;             /* 1 to 256 */
  const reckoner_archetype* archetypes; /* must be given */

  const char* host; /* address to listen on; null: every one of this machine */
  uint16_t port;    /* UDP; 0: any free one, see reckoner_server_port() */
  uint16_t reserved;
  int32_t insecure;                  /* 0; 1: lets in anybody, unencrypted, and there is no key */
  const uint8_t* key;                /* 32 bytes, shared with whoever issues tokens */
  uint64_t game;                     /* 0; as tokens are issued for */
  uint32_t address_count;            /* 0 */
  uint32_t peers_per_address;        /* 16: connections from one address */
  const reckoner_address* addresses; /* under which clients reach it, with port 0 for the one in use: a token
                                        must name one. None: `host`, which must then be given */
  double handshakes_per_second;      /* 10: sessions that begin from one address; 0: no limit */

  double tick_rate_hz;       /* 60; 1 to 1000 */
  double epoch_s;            /* 0: server time of tick 0 */
  uint32_t max_clients;      /* 64; at most 65535, above 4000 under Linux only */
  uint32_t max_entities;     /* 65536 */
  uint64_t bytes_per_second; /* 256000, to one client at most; 0: what its link carries */
  int32_t follow_link;       /* 1: less is sent where a client's link carries less */
  uint32_t threads;          /* 1; 0: one for each core */
  double heartbeat_s;        /* 0.25 */
  double join_timeout_s;     /* 5 */
  double updates_per_second; /* 0; else a budget for each entity */
  double fixed_rate_hz;      /* 0; else every entity is published evenly */
  double rewind_s;           /* 0; at most 1: how far back reckoner_server_pose_seen_by() goes */

  double interest_radius_m;            /* 0: all is shown, wherever it is */
  double interest_hysteresis;          /* 0.15 */
  double interest_level_distance_m[2]; /* 0, 0: from there on 4 and 16 times the threshold */
  double interest_interval_s;          /* 0.2 */

  double tokens_per_second; /* 2000: sessions that begin, from all addresses together; 0: no limit */

  /* What peers may make the server take in; beyond it is dropped, and counted. 0: no limit, unless it says
   * otherwise. */
  double limit_datagrams_per_second;         /* 2000, of one peer */
  double limit_bytes_per_second;             /* 1000000, of one peer */
  double limit_address_datagrams_per_second; /* 8000, of all peers at one address */
  double limit_address_bytes_per_second;     /* 4000000, the same */
  double limit_burst_s;                      /* 2: so many seconds' worth may come at once */
  uint64_t limit_message_bytes;              /* 32768, and at most: the largest control message */
  uint64_t limit_waiting_bytes;  /* 524288; 16384 to 1e9: data of one peer that waits for a lost packet */
  uint64_t limit_backlog_bytes;  /* 8388608; 65536 to 1e9: data that one peer has not acknowledged */
  uint64_t limit_waiting_events; /* 65536; 16 to 1e7: events that wait to be polled */

  reckoner_log_function log; /* null: nothing is said */
  void* log_user;            /* handed to it */
  int32_t log_least;         /* RECKONER_LOG_INFO: what is said at least */
  int32_t reserved2;

  double resume_s; /* 60: who was lost without a goodbye may go on with its session for so long; 0: is gone at
                      once */

  int32_t any_server; /* 0; 1, instead of addresses: tokens for whatever server will do */
  int32_t reserved3;
  double ticket_s;    /* 3600: how long a client may come back by itself after it was last connected */
  double half_open_s; /* 5: a session that no connection follows is gone then */
  uint64_t limit_waiting_event_bytes; /* 33554432; 65536 to 4e9: bytes of these events */
  double limit_silence_s;          /* 10, from 1 to 3600: a client that sends nothing for so long is lost */
  uint32_t sessions_per_client;    /* 1: of one client id at once; a newer one ends the oldest. 0: no limit */
  uint32_t used_tokens_per_client; /* 256: tokens of one client id that are remembered */
  uint64_t used_tokens;            /* 262144: of all; more new ones are not taken meanwhile */
} reckoner_server_config;
RECKONER_C_API void reckoner_server_config_init(reckoner_server_config* config, uint32_t struct_size);

/* Opens the socket. If it fails, the reason is written to `why`, if that is not null. The config is not
 * needed afterwards. */
RECKONER_C_API reckoner_result reckoner_server_create(const reckoner_server_config* config,
                                                      reckoner_server** server, char* why, size_t why_size);
/* Clients are told. */
RECKONER_C_API void reckoner_server_destroy(reckoner_server* server);

/* The UDP port in use; 0 for null. */
RECKONER_C_API uint16_t reckoner_server_port(const reckoner_server* server);

/* Per tick: change entities, then tick. Call receive as often as something may have arrived; the sooner, the
 * better the clients' clocks. now_s is on any clock on which tick k is due at epoch_s + k / tick_rate_hz. */
RECKONER_C_API reckoner_result reckoner_server_receive(reckoner_server* server, double now_s);
RECKONER_C_API reckoner_result reckoner_server_tick(reckoner_server* server, double now_s);
/* The number of the tick that the next call will run, and its time; either pointer may be null. */
RECKONER_C_API reckoner_result reckoner_server_next_tick(const reckoner_server* server, uint32_t* tick,
                                                         double* time_s);
/* Sleeps until something arrives or `seconds` have passed. Call receive next. */
RECKONER_C_API reckoner_result reckoner_server_wait(reckoner_server* server, double seconds);
/* Tells every client that the server goes down; go on calling receive for a moment. */
RECKONER_C_API reckoner_result reckoner_server_shutdown(reckoner_server* server);

/* Entities. `frame`: the entity in whose frame it begins, and `state` is; 0: the world. `name` is at most 64
 * bytes. */
RECKONER_C_API reckoner_result reckoner_server_spawn(reckoner_server* server, uint32_t archetype,
                                                     const char* name, const reckoner_state* state,
                                                     reckoner_entity frame, reckoner_entity* entity);
RECKONER_C_API reckoner_result reckoner_server_despawn(reckoner_server* server, reckoner_entity entity);
/* The truth at the coming tick, in the frame that the entity lives in. */
RECKONER_C_API reckoner_result reckoner_server_move(reckoner_server* server, reckoner_entity entity,
                                                    const reckoner_state* truth);
/* The same, but nothing in between was visited: clients do not blend over it. */
RECKONER_C_API reckoner_result reckoner_server_teleport(reckoner_server* server, reckoner_entity entity,
                                                        const reckoner_state* truth);
/* What the server has it doing at the coming tick, in its frame; and in the world. */
RECKONER_C_API reckoner_result reckoner_server_state(const reckoner_server* server, reckoner_entity entity,
                                                     reckoner_state* state);
RECKONER_C_API reckoner_result reckoner_server_in_world(const reckoner_server* server, reckoner_entity entity,
                                                        reckoner_state* state);

/* The motion last published, as clients decode it: its state at its time stamp, in the entity's frame.
 * `time_s` may be null. RECKONER_NOTHING before its first tick. */
RECKONER_C_API reckoner_result reckoner_server_published(const reckoner_server* server,
                                                         reckoner_entity entity, reckoner_state* state,
                                                         double* time_s);

/* What the server knows of an entity and what its clients do, side by side, as of the last tick, in the
 * world: to be drawn over the game, or watched. */
typedef struct reckoner_entity_debug {
  uint32_t struct_size;
  uint32_t level; /* the finest level of detail that somebody follows: 0, 1 or 2, for 1, 4 and 16 times the
                     threshold */
  reckoner_entity entity;
  reckoner_state truth;     /* as the game told it last */
  reckoner_state published; /* where the published motion has it at the same instant */
  double age_s;             /* the tick's time minus the time stamp of that motion */
  double error_m;           /* from truth to published */
  double error_rad;
  double threshold_m; /* what that may be at present */
  double threshold_rad;
  uint64_t clients;      /* that follow the entity */
  reckoner_entity frame; /* whose frame it lives in; 0: the world */
  int32_t on_route;      /* its motion runs along a route */
  int32_t owned;         /* a client says what it does */
} reckoner_entity_debug;
/* debug->struct_size must be filled in. RECKONER_NOTHING before the entity's first tick. */
RECKONER_C_API reckoner_result reckoner_server_debug(const reckoner_server* server, reckoner_entity entity,
                                                     reckoner_entity_debug* debug);

/* Frames: the entity lives in that of another from the coming tick on (a passenger on a ship); 0: in the
 * world. It stays where it is; move it in the frame from then on. RECKONER_ERROR_REFUSED: it lives there
 * itself, more than four deep, owned by a client, or out of its limits there. */
RECKONER_C_API reckoner_result reckoner_server_enter_frame(reckoner_server* server, reckoner_entity entity,
                                                           reckoner_entity frame);
/* RECKONER_NOTHING, and 0, for the world. */
RECKONER_C_API reckoner_result reckoner_server_frame(const reckoner_server* server, reckoner_entity entity,
                                                     reckoner_entity* frame);
/* What the game tells in the world's frame counts from this point from now on, m. Entities stay where they
 * are. */
RECKONER_C_API reckoner_result reckoner_server_set_origin(reckoner_server* server, const double origin[3]);

/* Whom an entity concerns: for all clients (client 0), or for one. */
enum { RECKONER_BY_DISTANCE = 0, RECKONER_ALWAYS = 1, RECKONER_NEVER = 2 };
RECKONER_C_API reckoner_result reckoner_server_set_relevance(reckoner_server* server, reckoner_peer client,
                                                             reckoner_entity entity, int32_t relevance);
/* A client sees only entities that share a bit with it; all bits are set by default. */
RECKONER_C_API reckoner_result reckoner_server_set_entity_groups(reckoner_server* server,
                                                                 reckoner_entity entity, uint32_t groups);
RECKONER_C_API reckoner_result reckoner_server_set_client_groups(reckoner_server* server,
                                                                 reckoner_peer client, uint32_t groups);
/* Where a client looks from, m. */
RECKONER_C_API reckoner_result reckoner_server_set_view(reckoner_server* server, reckoner_peer client,
                                                        const double eye[3]);

/* User fields, by their number in the archetype. */
RECKONER_C_API reckoner_result reckoner_server_set_field(reckoner_server* server, reckoner_entity entity,
                                                         uint32_t field, const reckoner_value* value);
/* As clients get it. */
RECKONER_C_API reckoner_result reckoner_server_field(const reckoner_server* server, reckoner_entity entity,
                                                     uint32_t field, reckoner_value* value);

/* Entities that a client owns: its game says what they do, within the limits of their archetype and these. */
enum { RECKONER_OWNER_ACCEPT = 0, RECKONER_OWNER_CORRECT = 1, RECKONER_OWNER_REFUSE = 2 };
enum { RECKONER_GONE_REST = 0, RECKONER_GONE_DESPAWN = 1 };
typedef struct reckoner_ownership_rules {
  uint32_t struct_size;
  int32_t policy; /* RECKONER_OWNER_CORRECT: of motions that it cannot have made */
  int32_t gone;   /* RECKONER_GONE_REST: what becomes of it when its owner is gone */
  uint32_t reserved;
  double max_acceleration_mps2; /* 1000 */
  double max_updates_per_s;     /* 120 */
  double silence_s;             /* 1: it comes to rest */
  double frame_reach_m; /* 100: so far from the middle of a frame it may enter that; 0: it enters none */
} reckoner_ownership_rules;
RECKONER_C_API void reckoner_ownership_rules_init(reckoner_ownership_rules* rules, uint32_t struct_size);
/* `rules` may be null: the defaults. */
RECKONER_C_API reckoner_result reckoner_server_give(reckoner_server* server, reckoner_entity entity,
                                                    reckoner_peer owner,
                                                    const reckoner_ownership_rules* rules);
/* RECKONER_NOTHING if no client owned it. */
RECKONER_C_API reckoner_result reckoner_server_take(reckoner_server* server, reckoner_entity entity);
/* RECKONER_NOTHING, and 0, if none does. */
RECKONER_C_API reckoner_result reckoner_server_owner(const reckoner_server* server, reckoner_entity entity,
                                                     reckoner_peer* owner);

/* Routes: curves that both sides know; an entity on one costs next to nothing. */
enum { RECKONER_CATMULL_ROM = 0, RECKONER_TCB = 1, RECKONER_CHAIKIN = 2, RECKONER_POLYLINE = 3 };
enum { RECKONER_OPEN = 0, RECKONER_CLOSED = 1, RECKONER_PING_PONG = 2 };
enum { RECKONER_UPRIGHT = 0, RECKONER_MINIMAL = 1, RECKONER_FIXED = 2 };
typedef struct reckoner_route_key { /* of RECKONER_TCB */
  double time;                      /* rising from key to key; weighs the tangents only */
  double position[3];               /* m */
  double tension, continuity, bias; /* usually -1 to 1 */
  double ease_to, ease_from;        /* 0 to 1 */
} reckoner_route_key;
typedef struct reckoner_route_config {
  uint32_t struct_size;
  int32_t kind;                   /* RECKONER_CATMULL_ROM */
  int32_t wrap;                   /* RECKONER_OPEN */
  int32_t facing;                 /* RECKONER_UPRIGHT */
  uint32_t point_count;           /* 0 */
  uint32_t key_count;             /* 0 */
  const double* points;           /* x, y, z of each, m; for all kinds but RECKONER_TCB */
  const reckoner_route_key* keys; /* for RECKONER_TCB */
  int32_t knots;                  /* 1, for Catmull-Rom: 0 uniform, 1 centripetal, 2 chordal */
  int32_t reflect_ends;           /* 0 */
  int32_t passes;                 /* 2, of Chaikin */
  int32_t reserved;
  double closing_time;      /* 0, of a closed TCB: the mean of the others */
  double up[3];             /* 0, 0, 1 */
  double orientation[4];    /* 0, 0, 0, 1: of RECKONER_FIXED */
  double tolerance_m;       /* 0: the default */
  double angle_limit_rad;   /* -1: all corners are cut, by Chaikin; else those that turn by so much or more */
  double outlier_limit_rad; /* 0: nothing is dropped; else spikes that turn back by more, before Chaikin's
                               passes */
} reckoner_route_config;
RECKONER_C_API void reckoner_route_config_init(reckoner_route_config* config, uint32_t struct_size);
/* If it fails, the reason is written to `why`, if that is not null. */
RECKONER_C_API reckoner_result reckoner_server_add_route(reckoner_server* server,
                                                         const reckoner_route_config* config,
                                                         reckoner_route* route, char* why, size_t why_size);
RECKONER_C_API reckoner_result reckoner_server_route_length(const reckoner_server* server,
                                                            reckoner_route route, double* length_m);
/* Where something is that is so far along it, m, at so many m/s, and how it moves and is turned there. */
RECKONER_C_API reckoner_result reckoner_server_route_state(const reckoner_server* server,
                                                           reckoner_route route, double distance_m,
                                                           double speed_mps, double acceleration_mps2,
                                                           reckoner_state* state);
/* Where along it a point is nearest, m, and how far away that is, m, which may be null. */
RECKONER_C_API reckoner_result reckoner_server_route_nearest(const reckoner_server* server,
                                                             reckoner_route route, const double point[3],
                                                             double* distance_m, double* away_m);
/* Go on calling move; or move it along, in m, m/s and m/s^2. */
RECKONER_C_API reckoner_result reckoner_server_follow(reckoner_server* server, reckoner_entity entity,
                                                      reckoner_route route);
RECKONER_C_API reckoner_result reckoner_server_leave_route(reckoner_server* server, reckoner_entity entity);
RECKONER_C_API reckoner_result reckoner_server_move_along(reckoner_server* server, reckoner_entity entity,
                                                          double distance_m, double speed_mps,
                                                          double acceleration_mps2);

/* Messages, both ways: bytes that only the game understands, and must not trust. Unreliable ones arrive at
 * once or not at all, at most 1000 bytes; reliable ones in order, at most 16384. `time_s`, a server time, or
 * null: the other end gets the message when what it shows has come to it. */
enum { RECKONER_RELIABLE = 0, RECKONER_UNRELIABLE = 1 };
typedef struct reckoner_message {
  uint32_t struct_size;
  reckoner_peer sender; /* on a client 0: the server */
  const uint8_t* bytes; /* valid until the next poll of messages */
  size_t size;
  int32_t has_time;
  int32_t reserved;
  double time_s;
} reckoner_message;
/* To client 0: to all, and RECKONER_NOTHING if there is none. */
RECKONER_C_API reckoner_result reckoner_server_send(reckoner_server* server, reckoner_peer client,
                                                    const void* bytes, size_t size, int32_t delivery,
                                                    const double* time_s);
/* The next that a client sent; message->struct_size must be filled in. Poll after every receive. */
RECKONER_C_API reckoner_result reckoner_server_poll_message(reckoner_server* server,
                                                            reckoner_message* message);

enum {
  RECKONER_CLIENT_JOINED = 0,
  RECKONER_CLIENT_LEFT = 1,
  RECKONER_CLIENT_REFUSED = 2,  /* `text` says why */
  RECKONER_OWNER_CORRECTED = 3, /* motions of `entity` that its owner sent were beyond the limits */
  RECKONER_OWNER_REFUSED = 4,   /* the same, and they were not shown */
  RECKONER_CLIENT_LOST = 5, /* its connection was lost; it may come back (resume_s). It owns nothing now */
  RECKONER_CLIENT_BACK = 6  /* it is back, the same as before */
};
typedef struct reckoner_server_event {
  uint32_t struct_size;
  int32_t kind;
  reckoner_peer client;
  uint32_t reserved;
  reckoner_entity entity;
  const char* text; /* valid until the next poll of events */
} reckoner_server_event;
RECKONER_C_API reckoner_result reckoner_server_poll_event(reckoner_server* server,
                                                          reckoner_server_event* event);

/* As whom a client's token let it in; user_data may be null. RECKONER_NOTHING on an insecure server. */
RECKONER_C_API reckoner_result reckoner_server_identity(const reckoner_server* server, reckoner_peer client,
                                                        uint64_t* client_id, uint8_t user_data[256]);

/* What a client was showing of an entity at server time `time_s`, as the client itself estimates it: for hit
 * tests (reckoner_server_config::rewind_s). RECKONER_NOTHING if it did not show it, or it is not known any
 * more. */
RECKONER_C_API reckoner_result reckoner_server_pose_seen_by(const reckoner_server* server,
                                                            reckoner_peer client, reckoner_entity entity,
                                                            double time_s, reckoner_pose* pose);
typedef struct reckoner_seen {
  reckoner_entity entity;
  reckoner_pose pose;
} reckoner_seen;
/* The same for all that it was showing; `count` gets how many there are. */
RECKONER_C_API reckoner_result reckoner_server_rewind(reckoner_server* server, reckoner_peer client,
                                                      double time_s, reckoner_seen* seen, size_t capacity,
                                                      size_t* count);

/* What was counted since it was made. */
typedef struct reckoner_server_stats {
  uint32_t struct_size;
  uint32_t clients;  /* now */
  uint32_t entities; /* now */
  uint32_t reserved;
  uint64_t ticks, publishes, updates_sent, full_updates_sent, repairs_sent, datagrams_sent, state_bytes_sent,
      datagrams_lost, malformed;
  uint64_t messages_sent, messages_dropped, messages_received, messages_refused;
  uint64_t owned_accepted, owned_corrected, owned_refused;
  uint64_t wire_bytes_sent, wire_bytes_received, transport_refused, transport_errors;
  uint64_t update_bits_sent;                                        /* of state_bytes_sent */
  uint64_t route_updates_sent, route_bits_sent, route_entity_ticks; /* of what is on routes */
  uint64_t field_changes_sent, field_repairs_sent, field_bits_sent;
  /* why motions were published; they add up to publishes */
  uint64_t published_first, published_owner, published_teleport, published_frame, published_route,
      published_due;
  /* motions of owners that were not looked at */
  uint64_t owned_late, owned_ahead, owned_too_many, owned_void_terms;
  uint64_t wire_datagrams_sent, wire_datagrams_received;
  /* of wire_bytes: without the headers of network and transport */
  uint64_t payload_bytes_sent, payload_bytes_received;
} reckoner_server_stats;
RECKONER_C_API reckoner_result reckoner_server_get_stats(const reckoner_server* server,
                                                         reckoner_server_stats* stats);
/* What was not taken in for a reason (reckoner_refusal_name()): payloads of clients by the server, and
 * datagrams by the transport. Either pointer may be null. RECKONER_ERROR_UNKNOWN for a reason that there is
 * not. */
RECKONER_C_API reckoner_result reckoner_server_refused(const reckoner_server* server, uint32_t reason,
                                                       uint64_t* payloads, uint64_t* datagrams);

/* ---- Client ------------------------------------------------------------------------------------------- */

typedef struct reckoner_client reckoner_client;

enum { RECKONER_PRESENT = 0, RECKONER_ADAPTIVE = 1, RECKONER_DELAYED = 2 };
typedef struct reckoner_client_config {
  uint32_t struct_size;
  uint32_t archetype_count;             /* the same kinds, in the same order, as on the server */
  const reckoner_archetype* archetypes; /* must be given */

  const char* host; /* of the server, a name or an address. Null, with a token and reconnects: those that the
                       token names, in their order */
  uint16_t port;
  uint16_t reserved;
  int32_t insecure;     /* 0; 1: the server lets in anybody, and there is no token */
  const uint8_t* token; /* 1024 bytes, see reckoner_issue_token(); good once */
  uint64_t game;        /* 0; as on the server */

  int32_t mode; /* RECKONER_PRESENT: now, by prediction. The others: a delay ago, by interpolation */
  uint32_t reserved2;
  double delay_s;       /* 0.1, of RECKONER_DELAYED; at most 2 */
  double max_delay_s;   /* 1, of RECKONER_ADAPTIVE */
  double blend_frames;  /* 6.5: frames that a correction takes; 0 snaps */
  double frame_rate_hz; /* 60: what a frame is, for that */

  double ack_interval_s;           /* 0.05 */
  double silence_s;                /* 1: a connection silent for longer fades motion to rest */
  double unconfirmed_s;            /* 5 */
  double owned_updates_per_second; /* 0; else a budget for each entity that the client owns */

  reckoner_log_function log; /* null: nothing is said */
  void* log_user;            /* handed to it */
  int32_t log_least;         /* RECKONER_LOG_INFO: what is said at least */
  int32_t reconnects; /* 0; 1: comes back by itself whenever the connection is lost after it has joined */

  /* How it does that. Nothing is told of a server that cannot be reached before the first receive. */
  double reconnect_silence_s;    /* 5: a connection on which nothing arrived for so long is given up */
  double reconnect_first_wait_s; /* 0.5: before the first attempt, at most */
  double reconnect_growth;       /* 2: each wait is so many times the one before; at least 1 */
  double reconnect_most_wait_s;  /* 10: but no longer */
  double reconnect_jitter;       /* 0.5: so much of each wait is left to chance, 0 to 1 */
  double reconnect_attempt_s;    /* 6: an attempt that has not come through by then has failed */
  double reconnect_give_up_s;    /* 0: never; else the client is disconnected for good then */
} reckoner_client_config;
RECKONER_C_API void reckoner_client_config_init(reckoner_client_config* config, uint32_t struct_size);

/* Starts to connect; the client joins by itself. If it fails, the reason is written to `why`, if that is not
 * null. */
RECKONER_C_API reckoner_result reckoner_client_create(const reckoner_client_config* config,
                                                      reckoner_client** client, char* why, size_t why_size);
RECKONER_C_API void reckoner_client_destroy(reckoner_client* client);

/* Per frame: receive, poll events and messages, then shown() or sample(). local_s is any clock of this
 * machine. */
RECKONER_C_API reckoner_result reckoner_client_receive(reckoner_client* client, double local_s);
RECKONER_C_API reckoner_result reckoner_client_wait(reckoner_client* client, double seconds);
/* Says goodbye; go on calling receive for a moment. */
RECKONER_C_API reckoner_result reckoner_client_leave(reckoner_client* client);

enum {
  RECKONER_CONNECTING = 0,
  RECKONER_JOINING = 1,
  RECKONER_JOINED = 2,
  RECKONER_REFUSED = 3,
  RECKONER_DISCONNECTED = 4,
  RECKONER_RECONNECTING = 5 /* was joined, and is on its way back: what is shown goes on, and fades to rest */
};
/* One of these; -1 for null. */
RECKONER_C_API int32_t reckoner_client_status(const reckoner_client* client);
/* Why it was refused or lost; empty otherwise. */
RECKONER_C_API const char* reckoner_client_refusal(const reckoner_client* client);
/* For how long it has been on its way back, s; 0: it is not. */
RECKONER_C_API reckoner_result reckoner_client_lost_for(const reckoner_client* client, double local_s,
                                                        double* seconds);
/* A new token from the backend, where the ticket of a client that reconnects has expired, an hour after it
 * was given. RECKONER_ERROR_REFUSED for one that does not reconnect, or is insecure. */
RECKONER_C_API reckoner_result reckoner_client_set_token(reckoner_client* client, const uint8_t token[1024]);
/* With what the client may come back, once, without its backend. RECKONER_NOTHING before it was let in. */
RECKONER_C_API reckoner_result reckoner_client_ticket(const reckoner_client* client, uint8_t token[1024]);

enum {
  RECKONER_EVENT_JOINED = 0,
  RECKONER_EVENT_SPAWNED = 1,
  RECKONER_EVENT_DESPAWNED = 2,
  RECKONER_EVENT_TELEPORTED = 3,
  RECKONER_EVENT_FIELDS_CHANGED = 4, /* `fields`, a bit each, says which */
  RECKONER_EVENT_GIVEN = 5, /* it is this client's: say what it does, from reckoner_client_owned() on */
  RECKONER_EVENT_TAKEN = 6,
  RECKONER_EVENT_CORRECTED =
      7, /* the server does not believe what it did: go on from reckoner_client_owned() */
  RECKONER_EVENT_SERVER_CLOSED = 8,
  RECKONER_EVENT_DISCONNECTED = 9, /* it is over: the client does not come back by itself */
  RECKONER_EVENT_LOST = 10,        /* the connection is lost, and the client on its way back */
  RECKONER_EVENT_RESUMED = 11,     /* back in its session: nothing is lost that was sent reliably */
  RECKONER_EVENT_RESTARTED = 12 /* back, but the server knew nothing of its session: another world follows */
};
typedef struct reckoner_client_event {
  uint32_t struct_size;
  int32_t kind;
  reckoner_entity entity;
  uint32_t fields;
  uint32_t reserved;
} reckoner_client_event;
/* event->struct_size must be filled in. Kinds that a program does not know are to be passed over. */
RECKONER_C_API reckoner_result reckoner_client_poll_event(reckoner_client* client,
                                                          reckoner_client_event* event);
RECKONER_C_API reckoner_result reckoner_client_poll_message(reckoner_client* client,
                                                            reckoner_message* message);
RECKONER_C_API reckoner_result reckoner_client_send(reckoner_client* client, const void* bytes, size_t size,
                                                    int32_t delivery, const double* time_s);

/* An entity as it is to be drawn in this frame. */
typedef struct reckoner_shown {
  uint32_t struct_size;
  uint32_t archetype;
  reckoner_entity entity;
  reckoner_state state;  /* continuous from frame to frame */
  double shown_time_s;   /* the instant of server time that it means to show */
  double age_s;          /* now minus the time stamp of the motion in use */
  reckoner_entity frame; /* whose frame it lives in; 0: the world */
  reckoner_state local;  /* as `state`, in that frame */
  int32_t on_route;      /* its pose lies on the curve of a route */
  int32_t reserved;
} reckoner_shown;
/* All visible entities. `element_size`: sizeof(reckoner_shown), the distance from one to the next; `count`
 * gets how many there are, RECKONER_ERROR_CAPACITY if that is more than fit. None before the clock is known.
 */
RECKONER_C_API reckoner_result reckoner_client_shown(reckoner_client* client, double local_s,
                                                     reckoner_shown* shown, uint32_t element_size,
                                                     size_t capacity, size_t* count);
/* One of them; RECKONER_NOTHING while it is not visible. shown->struct_size must be filled in. */
RECKONER_C_API reckoner_result reckoner_client_shown_one(reckoner_client* client, double local_s,
                                                         reckoner_entity entity, reckoner_shown* shown);

/* Their poses as arrays, some ten times as fast: the same entity at the same place in each. */
typedef struct reckoner_poses {
  uint32_t struct_size;
  uint32_t reserved;
  size_t count;
  const reckoner_entity* entities;
  const double* positions;   /* x, y, z of each, m */
  const float* orientations; /* x, y, z, w of each */
  double shown_time_s;
} reckoner_poses;
/* poses->struct_size must be filled in. */
RECKONER_C_API reckoner_result reckoner_client_sample(reckoner_client* client, double local_s,
                                                      reckoner_poses* poses);

/* Whether what is shown stands still (a menu, a picture): the server and the others go on, and so do receive
 * and the polls. Afterwards it catches up within half a second, continuous in position and velocity. */
RECKONER_C_API reckoner_result reckoner_client_set_paused(reckoner_client* client, int32_t paused,
                                                          double local_s);

/* When others are shown, and how fast a correction is worked in: as of reckoner_client_config. */
typedef struct reckoner_playout {
  uint32_t struct_size;
  int32_t mode;         /* RECKONER_PRESENT */
  double delay_s;       /* 0.1: of RECKONER_DELAYED, at most 2 */
  double max_delay_s;   /* 1: RECKONER_ADAPTIVE never goes further back */
  double blend_frames;  /* 6.5: that a correction takes; 0 snaps */
  double frame_rate_hz; /* 60: what a frame is */
} reckoner_playout;
RECKONER_C_API void reckoner_playout_init(reckoner_playout* playout, uint32_t struct_size);
/* Shows by that from now on, and tells the server. What is shown goes over without a jump: its time runs up
 * to a quarter slower or faster, until the delay is the new one (200 ms take 1.6 s). */
RECKONER_C_API reckoner_result reckoner_client_set_playout(reckoner_client* client,
                                                           const reckoner_playout* playout, double local_s);

/* Name of an entity that is or was just shown; null if unknown. */
RECKONER_C_API const char* reckoner_client_name(const reckoner_client* client, reckoner_entity entity);
/* The value at the instant that was shown last. */
RECKONER_C_API reckoner_result reckoner_client_field(const reckoner_client* client, reckoner_entity entity,
                                                     uint32_t field, reckoner_value* value);
/* Estimated server time; RECKONER_NOTHING before the first answer. */
RECKONER_C_API reckoner_result reckoner_client_server_time(const reckoner_client* client, double local_s,
                                                           double* server_time_s);
/* Hands a corrected pose back (pushed out of a wall): blending goes on from there. */
RECKONER_C_API reckoner_result reckoner_client_correct(reckoner_client* client, reckoner_entity entity,
                                                       const reckoner_state* shown, double local_s);
/* What is shown, and what is handed in, counts from this point from now on, m. */
RECKONER_C_API reckoner_result reckoner_client_set_origin(reckoner_client* client, const double origin[3]);
/* What an entity that this client owns is doing; call it every frame. */
RECKONER_C_API reckoner_result reckoner_client_move(reckoner_client* client, reckoner_entity entity,
                                                    const reckoner_state* state, double local_s);
/* The same in the frame of another entity: the state is as that frame is turned and moves
 * (reckoner_into_frame()), and shown where the frame is shown. Another frame than before: it goes over. 0: in
 * the world. */
RECKONER_C_API reckoner_result reckoner_client_move_in(reckoner_client* client, reckoner_entity entity,
                                                       const reckoner_state* state, reckoner_entity frame,
                                                       double local_s);
/* Where it is to go on from, when it was given or corrected, in the frame reckoner_client_owned_frame().
 * RECKONER_NOTHING if it is not this client's. */
RECKONER_C_API reckoner_result reckoner_client_owned(const reckoner_client* client, reckoner_entity entity,
                                                     double local_s, reckoner_state* state);

/* RECKONER_NOTHING, and 0, for the world, and for what is not this client's. */
RECKONER_C_API reckoner_result reckoner_client_owned_frame(const reckoner_client* client,
                                                           reckoner_entity entity, reckoner_entity* frame);

/* What is shown of an entity and what it is shown from, side by side, as it was shown last, in the world: to
 * be drawn over the game, or watched. */
typedef struct reckoner_shown_debug {
  uint32_t struct_size;
  uint32_t reserved;
  reckoner_entity entity;
  reckoner_state shown;  /* what is drawn */
  reckoner_state motion; /* where the motions that are known have it at the same instant, without the blend */
  double shown_time_s;   /* that instant of server time */
  double motion_time_s;  /* time stamp of the newest motion */
  double age_s;          /* present server time minus that */
  double blend_m;        /* how far the blend still holds it off the motion */
  double blend_rad;
  double blend_left_s; /* until nothing is left of that; 0: no blend is under way */
  double threshold_m;  /* the archetype's, as the server said */
  double threshold_rad;
  reckoner_entity frame; /* whose frame it lives in; 0: the world */
  int32_t fading;        /* nobody vouches for its motion any more: it fades to rest */
  int32_t owned;         /* by this client */
} reckoner_shown_debug;
/* debug->struct_size must be filled in. RECKONER_NOTHING for what was not shown. */
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
  double delay_s;      /* how far behind server time entities are shown */
  uint64_t field_changes_applied, field_changes_stale;
  uint64_t connections_lost;   /* and come back from, or not */
  uint64_t messages_abandoned; /* reliable ones, not confirmed when their session ended */
  uint64_t wire_datagrams_sent, wire_datagrams_received;
  /* of wire_bytes: without the headers of network and transport */
  uint64_t payload_bytes_sent, payload_bytes_received;
} reckoner_client_stats;
RECKONER_C_API reckoner_result reckoner_client_get_stats(const reckoner_client* client,
                                                         reckoner_client_stats* stats);
/* As reckoner_server_refused(), of what came from the server. */
RECKONER_C_API reckoner_result reckoner_client_refused(const reckoner_client* client, uint32_t reason,
                                                       uint64_t* payloads, uint64_t* datagrams);

#ifdef __cplusplus
}
#endif

#endif
