-- SPDX-License-Identifier: MIT
-- Generated from capi/include/reckoner.h by bindings/generate.py. Do not edit.
require("ffi").cdef [[
typedef int32_t reckoner_result;
enum reckoner_result_code
{
  RECKONER_OK = 0,
  RECKONER_NOTHING = 1,
  RECKONER_ERROR_ARGUMENT = -1,
  RECKONER_ERROR_STRUCT = -2,
  RECKONER_ERROR_UNKNOWN = -3,
  RECKONER_ERROR_REFUSED = -4,
  RECKONER_ERROR_NETWORK = -5,
  RECKONER_ERROR_MEMORY = -6,
  RECKONER_ERROR_CAPACITY = -7,
  RECKONER_ERROR_INTERNAL = -8
};
const char *reckoner_error_text(reckoner_result result);
const char *reckoner_version(void);
uint32_t reckoner_protocol_version(void);
reckoner_result reckoner_check_version(const char *version, char *why, size_t why_size);
enum reckoner_log_level
{
  RECKONER_LOG_DEBUG = 0,
  RECKONER_LOG_INFO = 1,
  RECKONER_LOG_WARNING = 2,
  RECKONER_LOG_ERROR = 3
};
enum reckoner_log_type
{
  RECKONER_LOG_BOOLEAN = 0,
  RECKONER_LOG_INTEGER = 1,
  RECKONER_LOG_UNSIGNED = 2,
  RECKONER_LOG_REAL = 3,
  RECKONER_LOG_TEXT = 4
};
typedef struct reckoner_log_field
{
  const char *name;
  int32_t type;
  uint32_t reserved;
  int64_t integer;
  uint64_t unsigned_integer;
  double real;
  const char *text;
} reckoner_log_field;
typedef struct reckoner_log_record
{
  uint32_t struct_size;
  int32_t level;
  const char *event;
  const char *line;
  const reckoner_log_field *fields;
  uint32_t field_count;
  uint32_t reserved;
} reckoner_log_record;
typedef void (*reckoner_log_function)(void *user, const reckoner_log_record *record);
reckoner_result reckoner_set_allocator(void *(*allocate)(size_t bytes), void (*release)(void *memory));
typedef uint64_t reckoner_entity;
typedef uint32_t reckoner_client_id;
typedef uint32_t reckoner_route;
typedef struct reckoner_state
{
  double position[3];
  float velocity[3];
  float acceleration[3];
  float orientation[4];
  float angular_velocity[3];
} reckoner_state;
void reckoner_state_init(reckoner_state *state);
typedef struct reckoner_pose
{
  double position[3];
  float orientation[4];
} reckoner_pose;
enum reckoner_value_type
{
  RECKONER_VALUE_BOOLEAN = 0,
  RECKONER_VALUE_INTEGER = 1,
  RECKONER_VALUE_REAL = 2,
  RECKONER_VALUE_BLOB = 3
};
typedef struct reckoner_value
{
  int32_t type;
  uint32_t blob_size;
  int64_t integer;
  double real;
  uint8_t blob[64];
} reckoner_value;
void reckoner_out_of_frame(const reckoner_state *frame, const reckoner_state *local, reckoner_state *outer);
void reckoner_into_frame(const reckoner_state *frame, const reckoner_state *outer, reckoner_state *local);
typedef struct reckoner_clock
{
  double real_s;
  double game_s;
  double scale;
  double next_scale;
  double ease_s;
} reckoner_clock;
void reckoner_clock_init(reckoner_clock *clock, double real_s, double game_s);
reckoner_result reckoner_clock_set_scale(reckoner_clock *clock, double scale, double real_s, double ease_s);
double reckoner_clock_at(const reckoner_clock *clock, double real_s);
double reckoner_clock_scale_at(const reckoner_clock *clock, double real_s);
double reckoner_clock_real_time_of(const reckoner_clock *clock, double game_s);
const char *reckoner_refusal_name(uint32_t reason);
typedef struct reckoner_field_spec
{
  uint32_t struct_size;
  int32_t type;
  const char *name;
  int64_t integer_least;
  int64_t integer_most;
  double real_least;
  double real_most;
  double real_step;
  uint32_t most_bytes;
  uint32_t reserved;
  reckoner_value initial;
} reckoner_field_spec;
void reckoner_field_spec_init(reckoner_field_spec *spec, uint32_t struct_size);
typedef struct reckoner_wall_box
{
  double centre[3];
  double half_size[3];
  float orientation[4];
} reckoner_wall_box;
typedef struct reckoner_archetype
{
  uint32_t struct_size;
  uint32_t field_count;
  const char *name;
  const reckoner_field_spec *fields;
  double threshold_m;
  double threshold_rad;
  double max_speed_mps;
  double world_size_m;
  int32_t has_orientation;
  int32_t never_reverses;
  int32_t floor;
  uint32_t reserved;
  double floor_up[3];
  double floor_height_m;
  double (*floor_at)(void *user, const double position[3]);
  void *floor_user;
  const char *codes;
  const reckoner_wall_box *wall_boxes;
  uint32_t wall_count;
  int32_t velocity;
  double wall_margin_m;
  void (*wall_reach)(void *user, const double from[3], const double to[3], double reached[3]);
  void *wall_user;
} reckoner_archetype;
enum reckoner_floor_kind
{
  RECKONER_FLOOR_NONE = 0,
  RECKONER_FLOOR_PLANE = 1,
  RECKONER_FLOOR_TERRAIN = 2
};
enum reckoner_velocity_source
{
  RECKONER_VELOCITY_AUTOMATIC = 0,
  RECKONER_VELOCITY_GIVEN = 1,
  RECKONER_VELOCITY_ESTIMATED = 2
};
void reckoner_archetype_init(reckoner_archetype *archetype, uint32_t struct_size);
reckoner_result reckoner_find_archetype(const reckoner_archetype *archetypes, uint32_t count, const char *name, uint32_t *index, char *why, size_t why_size);
reckoner_result reckoner_find_field(const reckoner_archetype *archetype, const char *name, uint32_t *index, char *why, size_t why_size);
enum reckoner_byte_count
{
  RECKONER_KEY_BYTES = 32,
  RECKONER_TOKEN_BYTES = 1024,
  RECKONER_USER_BYTES = 256,
  RECKONER_MAX_INPUT_BYTES = 64,
  RECKONER_MAX_GAME_STATE_BYTES = 128
};
typedef struct reckoner_address
{
  uint32_t host;
  uint16_t port;
  uint16_t reserved;
} reckoner_address;
reckoner_result reckoner_make_key(uint8_t key[32]);
reckoner_result reckoner_key_from_text(const char *text, uint8_t key[32]);
reckoner_result reckoner_key_to_text(const uint8_t key[32], char text[65]);
typedef struct reckoner_grant
{
  uint32_t struct_size;
  uint32_t server_count;
  const reckoner_address *servers;
  uint64_t client_id;
  uint64_t expires_s;
  uint64_t game;
  const uint8_t *user_data;
  uint32_t user_data_size;
  uint32_t reserved;
  uint64_t renewable_until_s;
  uint64_t issued_ms;
  const char *more_servers;
} reckoner_grant;
void reckoner_grant_init(reckoner_grant *grant, uint32_t struct_size);
reckoner_result reckoner_issue_token(const reckoner_grant *grant, const uint8_t key[32], uint8_t token[1024]);
typedef struct reckoner_server reckoner_server;
typedef struct reckoner_web_config reckoner_web_config;
typedef struct reckoner_server_config
{
  uint32_t struct_size;
  uint32_t archetype_count;
  const reckoner_archetype *archetypes;
  const char *host;
  uint16_t port;
  uint16_t reserved;
  int32_t insecure;
  const uint8_t *key;
  uint64_t game;
  uint32_t address_count;
  uint32_t peers_per_address;
  const reckoner_address *addresses;
  double handshakes_per_second;
  double tick_rate_hz;
  double epoch_s;
  uint32_t max_clients;
  uint32_t max_entities;
  uint64_t bytes_per_second;
  int32_t follow_link;
  uint32_t threads;
  double heartbeat_s;
  double join_timeout_s;
  double updates_per_second;
  double fixed_rate_hz;
  double rewind_s;
  double interest_radius_m;
  double interest_hysteresis;
  double interest_level_distance_m[2];
  double interest_interval_s;
  double tokens_per_second;
  double limit_datagrams_per_second;
  double limit_bytes_per_second;
  double limit_address_datagrams_per_second;
  double limit_address_bytes_per_second;
  double limit_burst_s;
  uint64_t reserved3;
  uint64_t reserved4;
  uint64_t reserved5;
  uint64_t limit_waiting_events;
  reckoner_log_function log;
  void *log_user;
  int32_t log_least;
  int32_t reserved2;
  double resume_s;
  int32_t any_server;
  int32_t receive_thread;
  double ticket_s;
  double half_open_s;
  uint64_t limit_waiting_event_bytes;
  double limit_silence_s;
  uint32_t sessions_per_client;
  uint32_t used_tokens_per_client;
  uint64_t used_tokens;
  const char *more_addresses;
  double send_rate_hz;
  double client_messages_per_second;
  uint64_t client_message_bytes_per_second;
  const char *transport;
  double repeat_input_s;
  const reckoner_web_config *web;
} reckoner_server_config;
void reckoner_server_config_init(reckoner_server_config *config, uint32_t struct_size);
reckoner_result reckoner_server_create(const reckoner_server_config *config, reckoner_server **server, char *why, size_t why_size);
void reckoner_server_destroy(reckoner_server *server);
uint16_t reckoner_server_port(const reckoner_server *server);
reckoner_result reckoner_server_receive(reckoner_server *server, double now_s);
reckoner_result reckoner_server_tick(reckoner_server *server, double now_s);
reckoner_result reckoner_server_next_tick(const reckoner_server *server, uint32_t *tick, double *time_s);
reckoner_result reckoner_server_wait(reckoner_server *server, double seconds);
reckoner_result reckoner_server_shutdown(reckoner_server *server);
reckoner_result reckoner_server_spawn(reckoner_server *server, uint32_t archetype, const char *name, const reckoner_state *state, reckoner_entity frame, reckoner_entity *entity);
reckoner_result reckoner_server_spawn_short_lived(reckoner_server *server, uint32_t archetype, const reckoner_state *state, const double *end_s, const void *data, size_t size, reckoner_client_id predicted_by, uint32_t prediction, reckoner_entity frame, reckoner_entity *entity);
reckoner_result reckoner_server_refuse_prediction(reckoner_server *server, reckoner_client_id client, uint32_t key);
enum reckoner_call_error
{
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
uint32_t reckoner_server_call_error(const reckoner_server *server);
const char *reckoner_call_error_text(uint32_t error);
reckoner_result reckoner_server_despawn(reckoner_server *server, reckoner_entity entity);
reckoner_result reckoner_server_move(reckoner_server *server, reckoner_entity entity, const reckoner_state *truth);
reckoner_result reckoner_server_teleport(reckoner_server *server, reckoner_entity entity, const reckoner_state *truth);
reckoner_result reckoner_server_state(const reckoner_server *server, reckoner_entity entity, reckoner_state *state);
reckoner_result reckoner_server_in_world(const reckoner_server *server, reckoner_entity entity, reckoner_state *state);
reckoner_result reckoner_server_entities(const reckoner_server *server, reckoner_entity *entities, size_t capacity, size_t *count);
reckoner_result reckoner_server_entities_near(const reckoner_server *server, const double centre[3], double radius_m, reckoner_entity *entities, size_t capacity, size_t *count);
reckoner_result reckoner_server_set_user_value(reckoner_server *server, reckoner_entity entity, uint64_t value);
reckoner_result reckoner_server_user_value(const reckoner_server *server, reckoner_entity entity, uint64_t *value);
reckoner_result reckoner_server_published(const reckoner_server *server, reckoner_entity entity, reckoner_state *state, double *time_s);
typedef struct reckoner_entity_debug
{
  uint32_t struct_size;
  uint32_t level;
  reckoner_entity entity;
  reckoner_state truth;
  reckoner_state published;
  double age_s;
  double error_m;
  double error_rad;
  double threshold_m;
  double threshold_rad;
  uint64_t clients;
  reckoner_entity frame;
  int32_t on_route;
  int32_t owned;
} reckoner_entity_debug;
reckoner_result reckoner_server_debug(const reckoner_server *server, reckoner_entity entity, reckoner_entity_debug *debug);
reckoner_result reckoner_server_enter_frame(reckoner_server *server, reckoner_entity entity, reckoner_entity frame);
reckoner_result reckoner_server_set_boardable(reckoner_server *server, reckoner_entity entity, int32_t boardable);
reckoner_result reckoner_server_frame_of(const reckoner_server *server, reckoner_entity entity, reckoner_entity *frame);
reckoner_result reckoner_server_set_origin(reckoner_server *server, const double origin[3]);
enum reckoner_relevance
{
  RECKONER_RELEVANCE_BY_DISTANCE = 0,
  RECKONER_RELEVANCE_ALWAYS = 1,
  RECKONER_RELEVANCE_NEVER = 2
};
reckoner_result reckoner_server_set_relevance(reckoner_server *server, reckoner_client_id client, reckoner_entity entity, int32_t relevance);
reckoner_result reckoner_server_set_entity_groups(reckoner_server *server, reckoner_entity entity, uint32_t groups);
reckoner_result reckoner_server_set_client_groups(reckoner_server *server, reckoner_client_id client, uint32_t groups);
reckoner_result reckoner_server_set_view(reckoner_server *server, reckoner_client_id client, const double eye[3]);
reckoner_result reckoner_server_set_field(reckoner_server *server, reckoner_entity entity, uint32_t field, const reckoner_value *value);
reckoner_result reckoner_server_field(const reckoner_server *server, reckoner_entity entity, uint32_t field, reckoner_value *value);
enum reckoner_owner_policy
{
  RECKONER_OWNER_POLICY_ACCEPT = 0,
  RECKONER_OWNER_POLICY_CORRECT = 1,
  RECKONER_OWNER_POLICY_REFUSE = 2
};
enum reckoner_owner_gone
{
  RECKONER_OWNER_GONE_REST = 0,
  RECKONER_OWNER_GONE_DESPAWN = 1
};
typedef struct reckoner_ownership_rules
{
  uint32_t struct_size;
  int32_t policy;
  int32_t gone;
  uint32_t reserved;
  double max_acceleration_mps2;
  double max_updates_per_s;
  double silence_s;
  double frame_reach_m;
  double max_teleport_m;
  double teleport_interval_s;
  double max_turning_mps;
} reckoner_ownership_rules;
void reckoner_ownership_rules_init(reckoner_ownership_rules *rules, uint32_t struct_size);
reckoner_result reckoner_server_give(reckoner_server *server, reckoner_entity entity, reckoner_client_id owner, const reckoner_ownership_rules *rules);
reckoner_result reckoner_server_revoke(reckoner_server *server, reckoner_entity entity);
reckoner_result reckoner_server_owner(const reckoner_server *server, reckoner_entity entity, reckoner_client_id *owner);
typedef struct reckoner_prediction_rules
{
  uint32_t struct_size;
  uint32_t reserved;
  double position_m;
  double angle_rad;
} reckoner_prediction_rules;
void reckoner_prediction_rules_init(reckoner_prediction_rules *rules, uint32_t struct_size);
reckoner_result reckoner_server_let_predict(reckoner_server *server, reckoner_entity entity, reckoner_client_id client, const reckoner_prediction_rules *rules);
reckoner_result reckoner_server_stop_prediction(reckoner_server *server, reckoner_entity entity, reckoner_client_id client);
reckoner_result reckoner_server_set_game_state(reckoner_server *server, reckoner_entity entity, const void *bytes, size_t size);
typedef struct reckoner_player_input
{
  uint32_t struct_size;
  uint32_t repeated;
  const uint8_t *bytes;
  size_t size;
  double seen_s;
} reckoner_player_input;
reckoner_result reckoner_server_input(reckoner_server *server, reckoner_client_id client, reckoner_player_input *input);
typedef struct reckoner_prediction_stats
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t ticks;
  uint64_t ticks_repeated;
  uint64_t inputs_late;
  uint64_t inputs_refused;
  uint64_t results;
  uint64_t mispredicted;
  uint64_t corrections;
} reckoner_prediction_stats;
reckoner_result reckoner_server_get_prediction_stats(const reckoner_server *server, reckoner_client_id client, reckoner_prediction_stats *stats);
enum reckoner_route_kind
{
  RECKONER_ROUTE_CATMULL_ROM = 0,
  RECKONER_ROUTE_TCB = 1,
  RECKONER_ROUTE_CHAIKIN = 2,
  RECKONER_ROUTE_POLYLINE = 3
};
enum reckoner_route_wrap
{
  RECKONER_WRAP_OPEN = 0,
  RECKONER_WRAP_CLOSED = 1,
  RECKONER_WRAP_PING_PONG = 2
};
enum reckoner_route_facing
{
  RECKONER_FACING_UPRIGHT = 0,
  RECKONER_FACING_MINIMAL = 1,
  RECKONER_FACING_FIXED = 2
};
typedef struct reckoner_route_key
{
  double time;
  double position[3];
  double tension;
  double continuity;
  double bias;
  double ease_to;
  double ease_from;
} reckoner_route_key;
typedef struct reckoner_route_config
{
  uint32_t struct_size;
  int32_t kind;
  int32_t wrap;
  int32_t facing;
  uint32_t point_count;
  uint32_t key_count;
  const double *points;
  const reckoner_route_key *keys;
  int32_t knots;
  int32_t reflect_ends;
  int32_t passes;
  int32_t reserved;
  double closing_time;
  double up[3];
  double orientation[4];
  double tolerance_m;
  double angle_limit_rad;
  double outlier_limit_rad;
} reckoner_route_config;
void reckoner_route_config_init(reckoner_route_config *config, uint32_t struct_size);
reckoner_result reckoner_server_add_route(reckoner_server *server, const reckoner_route_config *config, reckoner_route *route, char *why, size_t why_size);
reckoner_result reckoner_server_route_length(const reckoner_server *server, reckoner_route route, double *length_m);
reckoner_result reckoner_server_route_state(const reckoner_server *server, reckoner_route route, double distance_m, double speed_mps, double acceleration_mps2, reckoner_state *state);
reckoner_result reckoner_server_route_nearest(const reckoner_server *server, reckoner_route route, const double point[3], double *distance_m, double *away_m);
reckoner_result reckoner_server_follow(reckoner_server *server, reckoner_entity entity, reckoner_route route);
reckoner_result reckoner_server_leave_route(reckoner_server *server, reckoner_entity entity);
reckoner_result reckoner_server_move_along(reckoner_server *server, reckoner_entity entity, double distance_m, double speed_mps, double acceleration_mps2);
enum reckoner_delivery
{
  RECKONER_DELIVERY_RELIABLE = 0,
  RECKONER_DELIVERY_UNRELIABLE = 1,
  RECKONER_DELIVERY_RELIABLE_UNORDERED = 2
};
typedef struct reckoner_message
{
  uint32_t struct_size;
  reckoner_client_id sender;
  const uint8_t *bytes;
  size_t size;
  int32_t has_time;
  int32_t reserved;
  double time_s;
} reckoner_message;
reckoner_result reckoner_server_send(reckoner_server *server, reckoner_client_id client, const void *bytes, size_t size, int32_t delivery, const double *time_s);
reckoner_result reckoner_server_broadcast(reckoner_server *server, reckoner_client_id except, const void *bytes, size_t size, int32_t delivery, const double *time_s, size_t *reached);
reckoner_result reckoner_server_broadcast_listed(reckoner_server *server, const reckoner_client_id *clients, size_t count, reckoner_client_id except, const void *bytes, size_t size, int32_t delivery, const double *time_s, size_t *reached);
reckoner_result reckoner_server_broadcast_within(reckoner_server *server, const double centre[3], double radius_m, reckoner_client_id except, const void *bytes, size_t size, int32_t delivery, const double *time_s, size_t *reached);
reckoner_result reckoner_server_broadcast_seeing(reckoner_server *server, reckoner_entity entity, reckoner_client_id except, const void *bytes, size_t size, int32_t delivery, const double *time_s, size_t *reached);
reckoner_result reckoner_server_poll_message(reckoner_server *server, reckoner_message *message);
enum reckoner_server_event_kind
{
  RECKONER_SERVER_EVENT_CLIENT_JOINED = 0,
  RECKONER_SERVER_EVENT_CLIENT_LEFT = 1,
  RECKONER_SERVER_EVENT_CLIENT_REFUSED = 2,
  RECKONER_SERVER_EVENT_OWNER_CORRECTED = 3,
  RECKONER_SERVER_EVENT_OWNER_REFUSED = 4,
  RECKONER_SERVER_EVENT_CLIENT_LOST = 5,
  RECKONER_SERVER_EVENT_CLIENT_BACK = 6
};
typedef struct reckoner_server_event
{
  uint32_t struct_size;
  int32_t kind;
  reckoner_client_id client;
  uint32_t reserved;
  reckoner_entity entity;
  const char *text;
} reckoner_server_event;
reckoner_result reckoner_server_poll_event(reckoner_server *server, reckoner_server_event *event);
reckoner_result reckoner_server_identity(const reckoner_server *server, reckoner_client_id client, uint64_t *client_id, uint8_t user_data[256]);
reckoner_result reckoner_server_kick(reckoner_server *server, reckoner_client_id client, const char *reason);
reckoner_result reckoner_server_kick_player(reckoner_server *server, uint64_t client_id, const char *reason, size_t *ended);
reckoner_result reckoner_server_pose_seen_by(const reckoner_server *server, reckoner_client_id client, reckoner_entity entity, double time_s, reckoner_pose *pose);
typedef struct reckoner_seen
{
  reckoner_entity entity;
  reckoner_pose pose;
} reckoner_seen;
enum reckoner_rewind_status
{
  RECKONER_REWIND_KNOWN = 0,
  RECKONER_REWIND_PENDING = 1,
  RECKONER_REWIND_UNAVAILABLE = 2
};
reckoner_result reckoner_server_rewind_status(const reckoner_server *server, reckoner_client_id client, double time_s, uint32_t *status);
reckoner_result reckoner_server_rewind(reckoner_server *server, reckoner_client_id client, double time_s, reckoner_seen *seen, size_t capacity, size_t *count);
typedef struct reckoner_server_stats
{
  uint32_t struct_size;
  uint32_t clients;
  uint32_t entities;
  uint32_t closing;
  uint64_t ticks;
  uint64_t publishes;
  uint64_t updates_sent;
  uint64_t full_updates_sent;
  uint64_t repairs_sent;
  uint64_t datagrams_sent;
  uint64_t state_bytes_sent;
  uint64_t datagrams_lost;
  uint64_t malformed;
  uint64_t messages_sent;
  uint64_t messages_dropped;
  uint64_t messages_received;
  uint64_t messages_refused;
  uint64_t owned_accepted;
  uint64_t owned_corrected;
  uint64_t owned_refused;
  uint64_t wire_bytes_sent;
  uint64_t wire_bytes_received;
  uint64_t transport_refused;
  uint64_t transport_errors;
  uint64_t update_bits_sent;
  uint64_t route_updates_sent;
  uint64_t route_bits_sent;
  uint64_t route_entity_ticks;
  uint64_t field_changes_sent;
  uint64_t field_repairs_sent;
  uint64_t field_bits_sent;
  uint64_t published_first;
  uint64_t published_owner;
  uint64_t published_teleport;
  uint64_t published_frame;
  uint64_t published_route;
  uint64_t published_due;
  uint64_t owned_late;
  uint64_t owned_ahead;
  uint64_t owned_too_many;
  uint64_t owned_void_terms;
  uint64_t wire_datagrams_sent;
  uint64_t wire_datagrams_received;
  uint64_t payload_bytes_sent;
  uint64_t payload_bytes_received;
  uint64_t challenges;
  uint64_t owned_teleports;
  uint64_t times_refused;
  uint64_t events_discarded;
} reckoner_server_stats;
reckoner_result reckoner_server_get_stats(const reckoner_server *server, reckoner_server_stats *stats);
enum reckoner_sent_content
{
  RECKONER_SENT_FULL_MOTION = 0,
  RECKONER_SENT_RESIDUAL_MOTION = 1,
  RECKONER_SENT_ROUTE_MOTION = 2,
  RECKONER_SENT_SPAWN = 3,
  RECKONER_SENT_FIELD = 4,
  RECKONER_SENT_END = 5,
  RECKONER_SENT_MESSAGE = 6,
  RECKONER_SENT_RELIABLE_MESSAGE = 7,
  RECKONER_SENT_HEADER = 8,
  RECKONER_SENT_PREDICTION = 9
};
const char *reckoner_sent_content_name(uint32_t content);
reckoner_result reckoner_server_traffic(const reckoner_server *server, uint32_t content, uint64_t *count, uint64_t *bits);
reckoner_result reckoner_server_archetype_traffic(const reckoner_server *server, uint32_t archetype, uint32_t content, uint64_t *count, uint64_t *bits);
reckoner_result reckoner_server_field_traffic(const reckoner_server *server, uint32_t archetype, uint32_t field, uint64_t *count, uint64_t *bits);
typedef struct reckoner_entity_traffic
{
  uint32_t struct_size;
  uint32_t archetype;
  uint64_t updates;
  uint64_t motion_bits;
  uint64_t spawn_bits;
  uint64_t field_bits;
} reckoner_entity_traffic;
reckoner_result reckoner_server_traffic_of(const reckoner_server *server, reckoner_entity entity, reckoner_entity_traffic *traffic);
typedef struct reckoner_session_stats
{
  uint32_t struct_size;
  uint32_t connected;
  double round_trip_s;
  double round_trip_deviation_s;
  double loss;
  double sent_bytes_per_second;
  double budget_bytes_per_second;
  uint64_t entities;
  uint64_t queued_motions;
  uint64_t queued_spawns;
  uint64_t queued_messages;
  uint64_t queued_message_bytes;
  double sent_age_s;
  double behind_s;
  uint64_t datagrams_sent;
  uint64_t datagrams_lost;
  uint64_t bytes_sent;
  uint64_t motions_sent;
} reckoner_session_stats;
reckoner_result reckoner_server_get_session_stats(const reckoner_server *server, reckoner_client_id client, reckoner_session_stats *stats);
reckoner_result reckoner_server_clients(const reckoner_server *server, reckoner_client_id *clients, size_t capacity, size_t *count);
reckoner_result reckoner_server_refused(const reckoner_server *server, uint32_t reason, uint64_t *payloads, uint64_t *datagrams);
typedef struct reckoner_client reckoner_client;
enum reckoner_mode
{
  RECKONER_MODE_PRESENT = 0,
  RECKONER_MODE_ADAPTIVE = 1,
  RECKONER_MODE_DELAYED = 2,
  RECKONER_MODE_AHEAD = 3
};
enum reckoner_blend_curve
{
  RECKONER_BLEND_CUBIC = 0,
  RECKONER_BLEND_DAMPED = 1
};
enum reckoner_blend_profile
{
  RECKONER_PROFILE_ARTICLE = 0,
  RECKONER_PROFILE_BALANCED = 1,
  RECKONER_PROFILE_ACCURATE = 2,
  RECKONER_PROFILE_GENTLE = 3
};
reckoner_result reckoner_blend_settings(int32_t profile, int32_t *blend_curve, double *blend_s);
typedef struct reckoner_client_config
{
  uint32_t struct_size;
  uint32_t archetype_count;
  const reckoner_archetype *archetypes;
  const char *host;
  uint16_t port;
  uint16_t reserved;
  int32_t insecure;
  const uint8_t *token;
  uint64_t game;
  int32_t mode;
  int32_t receive_thread;
  double delay_s;
  double max_delay_s;
  double blend_s;
  double show_ahead_s;
  double ack_interval_s;
  double silence_s;
  double unconfirmed_s;
  double owned_updates_per_second;
  reckoner_log_function log;
  void *log_user;
  int32_t log_least;
  int32_t reconnects;
  double reconnect_silence_s;
  double reconnect_first_wait_s;
  double reconnect_growth;
  double reconnect_most_wait_s;
  double reconnect_jitter;
  double reconnect_attempt_s;
  double reconnect_give_up_s;
  uint32_t max_entities;
  uint32_t reserved2;
  const char *transport;
  uint32_t input_delay_ticks;
  uint32_t inputs_per_datagram;
  int32_t blend_curve;
  int32_t reserved3;
} reckoner_client_config;
void reckoner_client_config_init(reckoner_client_config *config, uint32_t struct_size);
reckoner_result reckoner_client_create(const reckoner_client_config *config, reckoner_client **client, char *why, size_t why_size);
void reckoner_client_destroy(reckoner_client *client);
reckoner_result reckoner_client_update(reckoner_client *client, double local_s);
reckoner_result reckoner_client_wait(reckoner_client *client, double seconds);
reckoner_result reckoner_client_leave(reckoner_client *client);
enum reckoner_status
{
  RECKONER_STATUS_CONNECTING = 0,
  RECKONER_STATUS_JOINING = 1,
  RECKONER_STATUS_JOINED = 2,
  RECKONER_STATUS_REFUSED = 3,
  RECKONER_STATUS_DISCONNECTED = 4,
  RECKONER_STATUS_RECONNECTING = 5
};
int32_t reckoner_client_status(const reckoner_client *client);
const char *reckoner_client_refusal(const reckoner_client *client);
reckoner_result reckoner_client_lost_for(const reckoner_client *client, double *seconds);
reckoner_result reckoner_client_set_token(reckoner_client *client, const uint8_t token[1024]);
reckoner_result reckoner_client_ticket(const reckoner_client *client, uint8_t token[1024]);
enum reckoner_client_event_kind
{
  RECKONER_CLIENT_EVENT_JOINED = 0,
  RECKONER_CLIENT_EVENT_SPAWNED = 1,
  RECKONER_CLIENT_EVENT_DESPAWNED = 2,
  RECKONER_CLIENT_EVENT_TELEPORTED = 3,
  RECKONER_CLIENT_EVENT_FIELDS_CHANGED = 4,
  RECKONER_CLIENT_EVENT_GIVEN = 5,
  RECKONER_CLIENT_EVENT_REVOKED = 6,
  RECKONER_CLIENT_EVENT_CORRECTED = 7,
  RECKONER_CLIENT_EVENT_SERVER_CLOSED = 8,
  RECKONER_CLIENT_EVENT_DISCONNECTED = 9,
  RECKONER_CLIENT_EVENT_LOST = 10,
  RECKONER_CLIENT_EVENT_RESUMED = 11,
  RECKONER_CLIENT_EVENT_RESTARTED = 12,
  RECKONER_CLIENT_EVENT_PREDICTION_FAILED = 13,
  RECKONER_CLIENT_EVENT_SNAPPED = 14,
  RECKONER_CLIENT_EVENT_PREDICTION_BEGAN = 15,
  RECKONER_CLIENT_EVENT_PREDICTION_ENDED = 16
};
typedef struct reckoner_client_event
{
  uint32_t struct_size;
  int32_t kind;
  reckoner_entity entity;
  uint32_t fields;
  uint32_t reserved;
  reckoner_entity predicted;
} reckoner_client_event;
reckoner_result reckoner_client_poll_event(reckoner_client *client, reckoner_client_event *event);
reckoner_result reckoner_client_poll_message(reckoner_client *client, reckoner_message *message);
reckoner_result reckoner_client_send(reckoner_client *client, const void *bytes, size_t size, int32_t delivery, const double *time_s);
reckoner_result reckoner_client_flush(reckoner_client *client);
typedef struct reckoner_shown
{
  uint32_t struct_size;
  uint32_t archetype;
  reckoner_entity entity;
  reckoner_state state;
  double shown_time_s;
  double age_s;
  reckoner_entity frame;
  reckoner_state local;
  int32_t on_route;
  int32_t reserved;
} reckoner_shown;
reckoner_result reckoner_client_shown(reckoner_client *client, reckoner_shown *shown, uint32_t element_size, size_t capacity, size_t *count);
reckoner_result reckoner_client_shown_one(reckoner_client *client, reckoner_entity entity, reckoner_shown *shown);
typedef struct reckoner_poses
{
  uint32_t struct_size;
  uint32_t reserved;
  size_t count;
  const reckoner_entity *entities;
  const double *positions;
  const float *orientations;
  double shown_time_s;
} reckoner_poses;
reckoner_result reckoner_client_shown_poses(reckoner_client *client, reckoner_poses *poses);
reckoner_result reckoner_client_shown_poses_into(reckoner_client *client, reckoner_entity *entities, double *positions, float *orientations, size_t capacity, size_t *count, double *shown_time_s);
reckoner_result reckoner_client_set_paused(reckoner_client *client, int32_t paused);
typedef struct reckoner_playout
{
  uint32_t struct_size;
  int32_t mode;
  double delay_s;
  double max_delay_s;
  double blend_s;
  int32_t blend_curve;
  int32_t reserved;
} reckoner_playout;
void reckoner_playout_init(reckoner_playout *playout, uint32_t struct_size);
reckoner_result reckoner_client_set_playout(reckoner_client *client, const reckoner_playout *playout);
const char *reckoner_client_name(const reckoner_client *client, reckoner_entity entity);
reckoner_result reckoner_client_short_lived(const reckoner_client *client, reckoner_entity entity, const uint8_t **data, size_t *size, double *end_s);
reckoner_result reckoner_client_set_user_value(reckoner_client *client, reckoner_entity entity, uint64_t value);
reckoner_result reckoner_client_user_value(const reckoner_client *client, reckoner_entity entity, uint64_t *value);
reckoner_result reckoner_client_field(const reckoner_client *client, reckoner_entity entity, uint32_t field, reckoner_value *value);
reckoner_result reckoner_client_server_time(const reckoner_client *client, double *server_time_s);
reckoner_result reckoner_client_correct(reckoner_client *client, reckoner_entity entity, const reckoner_state *shown);
reckoner_result reckoner_client_anticipate(reckoner_client *client, reckoner_entity entity, const reckoner_state *shown, double anticipated_s);
reckoner_result reckoner_client_set_origin(reckoner_client *client, const double origin[3]);
reckoner_result reckoner_client_move(reckoner_client *client, reckoner_entity entity, const reckoner_state *state);
reckoner_result reckoner_client_move_in(reckoner_client *client, reckoner_entity entity, const reckoner_state *state, reckoner_entity frame);
reckoner_result reckoner_client_teleport(reckoner_client *client, reckoner_entity entity, const reckoner_state *state, reckoner_entity frame);
reckoner_result reckoner_client_predict_spawn(reckoner_client *client, uint32_t archetype, const reckoner_state *state, uint32_t key, double patience_s, reckoner_entity *entity);
reckoner_result reckoner_client_drop_prediction(reckoner_client *client, reckoner_entity entity);
typedef struct reckoner_prediction_step
{
  uint32_t tick;
  uint32_t input_size;
  const uint8_t *input;
} reckoner_prediction_step;
reckoner_result reckoner_client_next_step(reckoner_client *client, const void *input, size_t input_size, reckoner_prediction_step *step);
reckoner_result reckoner_client_predict(reckoner_client *client, reckoner_entity entity, uint32_t tick, const reckoner_state *state, const void *game_state, size_t game_state_size);
enum reckoner_correction_reason
{
  RECKONER_CORRECTION_BEGINS = 0,
  RECKONER_CORRECTION_INPUT_MISSING = 1,
  RECKONER_CORRECTION_DIFFERS = 2,
  RECKONER_CORRECTION_TELEPORTED = 3
};
enum reckoner_correction_cause
{
  RECKONER_CAUSE_BEGINS = 0,
  RECKONER_CAUSE_TELEPORTED = 1,
  RECKONER_CAUSE_INPUT_MISSING = 2,
  RECKONER_CAUSE_INPUT_LATE = 3,
  RECKONER_CAUSE_INPUT_LOST = 4,
  RECKONER_CAUSE_GAME_STATE = 5,
  RECKONER_CAUSE_SMALL_DIFFERENCE = 6,
  RECKONER_CAUSE_DIFFERS = 7
};
typedef struct reckoner_corrected_entity
{
  reckoner_entity entity;
  reckoner_state state;
  const uint8_t *game_state;
  size_t game_state_size;
} reckoner_corrected_entity;
typedef struct reckoner_correction
{
  uint32_t struct_size;
  int32_t reason;
  uint32_t tick;
  uint32_t entity_count;
  const reckoner_corrected_entity *entities;
  const reckoner_prediction_step *steps;
  uint32_t step_count;
  uint32_t reserved;
} reckoner_correction;
reckoner_result reckoner_client_poll_correction(reckoner_client *client, reckoner_correction *correction);
uint32_t reckoner_client_call_error(const reckoner_client *client);
reckoner_result reckoner_client_owned(const reckoner_client *client, reckoner_entity entity, reckoner_state *state);
reckoner_result reckoner_client_owned_frame(const reckoner_client *client, reckoner_entity entity, reckoner_entity *frame);
reckoner_result reckoner_client_motion_at(const reckoner_client *client, reckoner_entity entity, double server_time_s, reckoner_state *state);
typedef struct reckoner_shown_debug
{
  uint32_t struct_size;
  uint32_t reserved;
  reckoner_entity entity;
  reckoner_state shown;
  reckoner_state motion;
  double shown_time_s;
  double motion_time_s;
  double age_s;
  double blend_m;
  double blend_rad;
  double blend_left_s;
  double threshold_m;
  double threshold_rad;
  reckoner_entity frame;
  int32_t fading;
  int32_t owned;
  int32_t predicted;
  int32_t corrected;
  uint64_t prediction_ticks;
  double prediction_lead_s;
  double prediction_fading_m;
  uint32_t prediction_newest;
  uint32_t prediction_corrections;
  uint32_t correction_tick;
  int32_t correction_reason;
  int32_t correction_cause;
  int32_t correction_had_result;
  double correction_age_s;
  double correction_error_m;
  double correction_error_rad;
  double correction_input_late_s;
  uint32_t correction_input_tick;
  int32_t correction_game_state_differs;
} reckoner_shown_debug;
reckoner_result reckoner_client_debug(const reckoner_client *client, reckoner_entity entity, reckoner_shown_debug *debug);
typedef struct reckoner_client_stats
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t datagrams_received;
  uint64_t datagrams_lost;
  uint64_t datagrams_stale;
  uint64_t updates_applied;
  uint64_t updates_stale;
  uint64_t malformed;
  uint64_t unknown_references;
  uint64_t state_bytes_received;
  uint64_t corrections;
  uint64_t messages_sent;
  uint64_t messages_dropped;
  uint64_t messages_received;
  uint64_t messages_refused;
  uint64_t wire_bytes_sent;
  uint64_t wire_bytes_received;
  uint64_t transport_refused;
  uint64_t transport_errors;
  double round_trip_s;
  double delay_s;
  uint64_t field_changes_applied;
  uint64_t field_changes_stale;
  uint64_t connections_lost;
  uint64_t messages_abandoned;
  uint64_t wire_datagrams_sent;
  uint64_t wire_datagrams_received;
  uint64_t payload_bytes_sent;
  uint64_t payload_bytes_received;
  uint64_t entities_refused;
  uint64_t times_refused;
  double clock_rate;
  uint64_t events_discarded;
  uint64_t mispredictions;
  double input_lead_s;
} reckoner_client_stats;
reckoner_result reckoner_client_get_stats(const reckoner_client *client, reckoner_client_stats *stats);
reckoner_result reckoner_client_refused(const reckoner_client *client, uint32_t reason, uint64_t *payloads, uint64_t *datagrams);
]]
return { version = "0.2.0" }
