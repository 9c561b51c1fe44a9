// SPDX-License-Identifier: MIT
// Generated from capi/include/reckoner.h by bindings/generate.py. Do not edit.

/** An address in the memory of the module; 0: null. */
export type Pointer = number;
/** Type of a member; an object: the layout of a nested struct. */
export type Kind = 'u8' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64' | 'pointer' | Layout;
/** Offset, type and, for an array, the number of elements of each member of a struct. */
export interface Layout {
  readonly size: number;
  readonly members: { readonly [name: string]: readonly [offset: number, kind: Kind, length?: number] };
}

export const version = '0.2.0';

export const resultCode = { ok: 0, nothing: 1, errorArgument: -1, errorStruct: -2, errorUnknown: -3, errorRefused: -4, errorNetwork: -5, errorMemory: -6, errorCapacity: -7, errorInternal: -8 } as const;
export type ResultCode = keyof typeof resultCode;
export const logLevel = { debug: 0, info: 1, warning: 2, error: 3 } as const;
export type LogLevel = keyof typeof logLevel;
export const logType = { boolean: 0, integer: 1, unsigned: 2, real: 3, text: 4 } as const;
export type LogType = keyof typeof logType;
export const valueType = { boolean: 0, integer: 1, real: 2, blob: 3 } as const;
export type ValueType = keyof typeof valueType;
export const floorKind = { none: 0, plane: 1, terrain: 2 } as const;
export type FloorKind = keyof typeof floorKind;
export const velocitySource = { automatic: 0, given: 1, estimated: 2 } as const;
export type VelocitySource = keyof typeof velocitySource;
export const byteCount = { keyBytes: 32, tokenBytes: 1024, userBytes: 256, maxInputBytes: 64, maxGameStateBytes: 128 } as const;
export type ByteCount = keyof typeof byteCount;
export const callError = { unknownEntity: 1, unknownArchetype: 2, unknownFrame: 3, tooDeep: 4, nameTooLong: 5, dataTooLong: 6, endOutOfRange: 7, worldFull: 8, notFinite: 9, outsideWorld: 10, tooFast: 11, beyondLimits: 12, owned: 13, notOwned: 14, eventNotPolled: 15, noClock: 16, noRoute: 17, circle: 18, shortLived: 19, unknownClient: 20, noConnection: 21, noOwner: 22, unknownRoute: 23, unknownField: 24, wrongType: 25, outOfRange: 26, messageEmpty: 27, messageTooLong: 28, queueFull: 29, invalidTime: 30, reasonTooLong: 31, notShown: 32, notPredicted: 33, tooManyPredicted: 34, predicted: 35, noStep: 36 } as const;
export type CallError = keyof typeof callError;
export const relevance = { byDistance: 0, always: 1, never: 2 } as const;
export type Relevance = keyof typeof relevance;
export const ownerPolicy = { accept: 0, correct: 1, refuse: 2 } as const;
export type OwnerPolicy = keyof typeof ownerPolicy;
export const ownerGone = { rest: 0, despawn: 1 } as const;
export type OwnerGone = keyof typeof ownerGone;
export const routeKind = { catmullRom: 0, tcb: 1, chaikin: 2, polyline: 3 } as const;
export type RouteKind = keyof typeof routeKind;
export const routeWrap = { open: 0, closed: 1, pingPong: 2 } as const;
export type RouteWrap = keyof typeof routeWrap;
export const routeFacing = { upright: 0, minimal: 1, fixed: 2 } as const;
export type RouteFacing = keyof typeof routeFacing;
export const delivery = { reliable: 0, unreliable: 1, reliableUnordered: 2 } as const;
export type Delivery = keyof typeof delivery;
export const serverEventKind = { clientJoined: 0, clientLeft: 1, clientRefused: 2, ownerCorrected: 3, ownerRefused: 4, clientLost: 5, clientBack: 6 } as const;
export type ServerEventKind = keyof typeof serverEventKind;
export const rewindStatus = { known: 0, pending: 1, unavailable: 2 } as const;
export type RewindStatus = keyof typeof rewindStatus;
export const sentContent = { fullMotion: 0, residualMotion: 1, routeMotion: 2, spawn: 3, field: 4, end: 5, message: 6, reliableMessage: 7, header: 8, prediction: 9 } as const;
export type SentContent = keyof typeof sentContent;
export const mode = { present: 0, adaptive: 1, delayed: 2, ahead: 3 } as const;
export type Mode = keyof typeof mode;
export const blendCurve = { cubic: 0, damped: 1 } as const;
export type BlendCurve = keyof typeof blendCurve;
export const blendProfile = { article: 0, balanced: 1, accurate: 2, gentle: 3 } as const;
export type BlendProfile = keyof typeof blendProfile;
export const status = { connecting: 0, joining: 1, joined: 2, refused: 3, disconnected: 4, reconnecting: 5 } as const;
export type Status = keyof typeof status;
export const clientEventKind = { joined: 0, spawned: 1, despawned: 2, teleported: 3, fieldsChanged: 4, given: 5, revoked: 6, corrected: 7, serverClosed: 8, disconnected: 9, lost: 10, resumed: 11, restarted: 12, predictionFailed: 13, snapped: 14, predictionBegan: 15, predictionEnded: 16 } as const;
export type ClientEventKind = keyof typeof clientEventKind;
export const correctionReason = { begins: 0, inputMissing: 1, differs: 2, teleported: 3 } as const;
export type CorrectionReason = keyof typeof correctionReason;
export const correctionCause = { begins: 0, teleported: 1, inputMissing: 2, inputLate: 3, inputLost: 4, gameState: 5, smallDifference: 6, differs: 7 } as const;
export type CorrectionCause = keyof typeof correctionCause;

export const reckoner_log_field = {
  size: 48,
  members: {
    name: [0, 'pointer'],
    type: [4, 'i32'],
    reserved: [8, 'u32'],
    integer: [16, 'i64'],
    unsignedInteger: [24, 'u64'],
    real: [32, 'f64'],
    text: [40, 'pointer'],
  },
} as const satisfies Layout;
export interface LogField {
  /** RECKONER_LOG_BOOLEAN...: selects the member */
  type: number;
  /** RECKONER_LOG_INTEGER, and RECKONER_LOG_BOOLEAN as 0 or 1 */
  integer: number;
  /** RECKONER_LOG_UNSIGNED */
  unsignedInteger: number;
  /** RECKONER_LOG_REAL */
  real: number;
}

export const reckoner_log_record = {
  size: 28,
  members: {
    structSize: [0, 'u32'],
    level: [4, 'i32'],
    event: [8, 'pointer'],
    line: [12, 'pointer'],
    fields: [16, 'pointer'],
    fieldCount: [20, 'u32'],
    reserved: [24, 'u32'],
  },
} as const satisfies Layout;
export interface LogRecord {
  level: number;
  fieldCount: number;
}

export const reckoner_state = {
  size: 80,
  members: {
    position: [0, 'f64', 3],
    velocity: [24, 'f32', 3],
    acceleration: [36, 'f32', 3],
    orientation: [48, 'f32', 4],
    angularVelocity: [64, 'f32', 3],
  },
} as const satisfies Layout;
export interface State {
  /** m */
  position: ArrayLike<number>;
  /** m/s */
  velocity: ArrayLike<number>;
  /** m/s^2 */
  acceleration: ArrayLike<number>;
  /** x, y, z, w */
  orientation: ArrayLike<number>;
  /** rad/s */
  angularVelocity: ArrayLike<number>;
}

export const reckoner_pose = {
  size: 40,
  members: {
    position: [0, 'f64', 3],
    orientation: [24, 'f32', 4],
  },
} as const satisfies Layout;
export interface Pose {
  /** m */
  position: ArrayLike<number>;
  /** x, y, z, w */
  orientation: ArrayLike<number>;
}

export const reckoner_value = {
  size: 88,
  members: {
    type: [0, 'i32'],
    blobSize: [4, 'u32'],
    integer: [8, 'i64'],
    real: [16, 'f64'],
    blob: [24, 'u8', 64],
  },
} as const satisfies Layout;
export interface Value {
  /** RECKONER_VALUE_BOOLEAN...: selects the member */
  type: number;
  /** RECKONER_VALUE_BLOB, at most 64 */
  blobSize: number;
  /** RECKONER_VALUE_INTEGER, and RECKONER_VALUE_BOOLEAN as 0 or 1 */
  integer: number;
  /** RECKONER_VALUE_REAL */
  real: number;
  blob: ArrayLike<number>;
}

export const reckoner_clock = {
  size: 40,
  members: {
    realS: [0, 'f64'],
    gameS: [8, 'f64'],
    scale: [16, 'f64'],
    nextScale: [24, 'f64'],
    easeS: [32, 'f64'],
  },
} as const satisfies Layout;
export interface Clock {
  /** real time at which the newest change began */
  realS: number;
  /** game time at that moment */
  gameS: number;
  /** game seconds per real second at that moment */
  scale: number;
  /** scale after the change */
  nextScale: number;
  /** duration of the change, s of real time */
  easeS: number;
}

export const reckoner_field_spec = {
  size: 152,
  members: {
    structSize: [0, 'u32'],
    type: [4, 'i32'],
    name: [8, 'pointer'],
    integerLeast: [16, 'i64'],
    integerMost: [24, 'i64'],
    realLeast: [32, 'f64'],
    realMost: [40, 'f64'],
    realStep: [48, 'f64'],
    mostBytes: [56, 'u32'],
    reserved: [60, 'u32'],
    initial: [64, reckoner_value],
  },
} as const satisfies Layout;
export interface FieldSpec {
  /** RECKONER_VALUE_BOOLEAN... */
  type: number;
  /** 0; smallest value. The range determines the size on the wire */
  integerLeast: number;
  /** 255; largest value */
  integerMost: number;
  /** 0; smallest value */
  realLeast: number;
  /** 1; largest value */
  realMost: number;
  /** 0.001; both ends round the value to this step */
  realStep: number;
  /** 64; largest size of a blob */
  mostBytes: number;
  /** 0, false or empty; its type is ignored */
  initial: Value;
}

export const reckoner_wall_box = {
  size: 64,
  members: {
    centre: [0, 'f64', 3],
    halfSize: [24, 'f64', 3],
    orientation: [48, 'f32', 4],
  },
} as const satisfies Layout;
export interface WallBox {
  /** m */
  centre: ArrayLike<number>;
  /** half of the edges along the box's own axes, m; above 0 */
  halfSize: ArrayLike<number>;
  /** x, y, z, w: box to world, a unit quaternion */
  orientation: ArrayLike<number>;
}

export const reckoner_archetype = {
  size: 136,
  members: {
    structSize: [0, 'u32'],
    fieldCount: [4, 'u32'],
    name: [8, 'pointer'],
    fields: [12, 'pointer'],
    thresholdM: [16, 'f64'],
    thresholdRad: [24, 'f64'],
    maxSpeedMps: [32, 'f64'],
    worldSizeM: [40, 'f64'],
    hasOrientation: [48, 'i32'],
    neverReverses: [52, 'i32'],
    floor: [56, 'i32'],
    reserved: [60, 'u32'],
    floorUp: [64, 'f64', 3],
    floorHeightM: [88, 'f64'],
    floorAt: [96, 'pointer'],
    floorUser: [100, 'pointer'],
    codes: [104, 'pointer'],
    wallBoxes: [108, 'pointer'],
    wallCount: [112, 'u32'],
    velocity: [116, 'i32'],
    wallMarginM: [120, 'f64'],
    wallReach: [128, 'pointer'],
    wallUser: [132, 'pointer'],
  },
} as const satisfies Layout;
export interface Archetype {
  /** 0 */
  fieldCount: number;
  /** largest error of the predicted position before the server publishes, m */
  thresholdM: number;
  /** the same for the orientation, rad */
  thresholdRad: number;
  /** the server refuses faster states, m/s */
  maxSpeedMps: number;
  /** the server refuses states further from the origin on any axis, m */
  worldSizeM: number;
  /** 1; 0: the orientation is never sent */
  hasOrientation: number;
  /** 0; 1: prediction lets braking entities come to rest, as cars do */
  neverReverses: number;
  /** RECKONER_FLOOR_NONE */
  floor: number;
  /** 0, 0, 1: the direction against gravity, a unit vector */
  floorUp: ArrayLike<number>;
  /** a plane: all points p with dot(p, floor_up) = floor_height_m, m */
  floorHeightM: number;
  /** 0; at most 4096 */
  wallCount: number;
  /** RECKONER_VELOCITY_AUTOMATIC */
  velocity: number;
  /** 0; the distance that positions keep from boxes, m */
  wallMarginM: number;
}

export const reckoner_address = {
  size: 8,
  members: {
    host: [0, 'u32'],
    port: [4, 'u16'],
    reserved: [6, 'u16'],
  },
} as const satisfies Layout;
export interface Address {
  host: number;
  port: number;
}

export const reckoner_grant = {
  size: 80,
  members: {
    structSize: [0, 'u32'],
    serverCount: [4, 'u32'],
    servers: [8, 'pointer'],
    clientId: [16, 'u64'],
    expiresS: [24, 'u64'],
    game: [32, 'u64'],
    userData: [40, 'pointer'],
    userDataSize: [44, 'u32'],
    reserved: [48, 'u32'],
    renewableUntilS: [56, 'u64'],
    issuedMs: [64, 'u64'],
    moreServers: [72, 'pointer'],
  },
} as const satisfies Layout;
export interface Grant {
  /** 0 to 32; with more_servers: at least one in total */
  serverCount: number;
  /** the backend's id of the client */
  clientId: number;
  /** seconds since 1970 */
  expiresS: number;
  /** distinguishes games with the same key */
  game: number;
  /** at most 256 */
  userDataSize: number;
  /** until when the client may reconnect with tickets, seconds since 1970; 0: a day after expires_s */
  renewableUntilS: number;
  /** when the player logged in, milliseconds since 1970; 0: now. Of two tokens of one client id, the later one wins */
  issuedMs: number;
}

export const reckoner_server_config = {
  size: 400,
  members: {
    structSize: [0, 'u32'],
    archetypeCount: [4, 'u32'],
    archetypes: [8, 'pointer'],
    host: [12, 'pointer'],
    port: [16, 'u16'],
    reserved: [18, 'u16'],
    insecure: [20, 'i32'],
    key: [24, 'pointer'],
    game: [32, 'u64'],
    addressCount: [40, 'u32'],
    peersPerAddress: [44, 'u32'],
    addresses: [48, 'pointer'],
    handshakesPerSecond: [56, 'f64'],
    tickRateHz: [64, 'f64'],
    epochS: [72, 'f64'],
    maxClients: [80, 'u32'],
    maxEntities: [84, 'u32'],
    bytesPerSecond: [88, 'u64'],
    followLink: [96, 'i32'],
    threads: [100, 'u32'],
    heartbeatS: [104, 'f64'],
    joinTimeoutS: [112, 'f64'],
    updatesPerSecond: [120, 'f64'],
    fixedRateHz: [128, 'f64'],
    rewindS: [136, 'f64'],
    interestRadiusM: [144, 'f64'],
    interestHysteresis: [152, 'f64'],
    interestLevelDistanceM: [160, 'f64', 2],
    interestIntervalS: [176, 'f64'],
    tokensPerSecond: [184, 'f64'],
    limitDatagramsPerSecond: [192, 'f64'],
    limitBytesPerSecond: [200, 'f64'],
    limitAddressDatagramsPerSecond: [208, 'f64'],
    limitAddressBytesPerSecond: [216, 'f64'],
    limitBurstS: [224, 'f64'],
    reserved3: [232, 'u64'],
    reserved4: [240, 'u64'],
    reserved5: [248, 'u64'],
    limitWaitingEvents: [256, 'u64'],
    log: [264, 'pointer'],
    logUser: [268, 'pointer'],
    logLeast: [272, 'i32'],
    reserved2: [276, 'i32'],
    resumeS: [280, 'f64'],
    anyServer: [288, 'i32'],
    receiveThread: [292, 'i32'],
    ticketS: [296, 'f64'],
    halfOpenS: [304, 'f64'],
    limitWaitingEventBytes: [312, 'u64'],
    limitSilenceS: [320, 'f64'],
    sessionsPerClient: [328, 'u32'],
    usedTokensPerClient: [332, 'u32'],
    usedTokens: [336, 'u64'],
    moreAddresses: [344, 'pointer'],
    sendRateHz: [352, 'f64'],
    clientMessagesPerSecond: [360, 'f64'],
    clientMessageBytesPerSecond: [368, 'u64'],
    transport: [376, 'pointer'],
    repeatInputS: [384, 'f64'],
    web: [392, 'pointer'],
  },
} as const satisfies Layout;
export interface ServerConfig {
  /** number of archetypes */
  archetypeCount: number;
  /** UDP port; 0: any free port, see reckoner_server_port() */
  port: number;
  /** 1: anyone may join, without encryption and without a key */
  insecure: number;
  /** the game number in the tokens */
  game: number;
  /** number of addresses */
  addressCount: number;
  /** most connections from one address; a /64 of IPv6 counts as one */
  peersPerAddress: number;
  /** new sessions from one IP address; 0: no limit */
  handshakesPerSecond: number;
  /** ticks per second */
  tickRateHz: number;
  /** server time of tick 0 */
  epochS: number;
  /** more than 4000 only on Linux */
  maxClients: number;
  /** entities at once */
  maxEntities: number;
  /** largest rate to one client; 0: as much as its connection carries */
  bytesPerSecond: number;
  /** 1: the rate also adapts to each client's connection */
  followLink: number;
  /** threads that publish and encode; 0: one for each core */
  threads: number;
  /** longest time between datagrams to a client */
  heartbeatS: number;
  /** a connection without a request to join is closed after this time */
  joinTimeoutS: number;
  /** budget of each entity; 0: thresholds decide alone */
  updatesPerSecond: number;
  /** every entity is published at this rate; 0: thresholds decide */
  fixedRateHz: number;
  /** how far back reckoner_server_pose_seen_by() goes */
  rewindS: number;
  /** a client sees entities up to this distance; 0: at any distance */
  interestRadiusM: number;
  /** share of the distance by which an entity must leave before it is hidden */
  interestHysteresis: number;
  /** from these distances on, the threshold is 4 and 16 times as large; 0: never */
  interestLevelDistanceM: ArrayLike<number>;
  /** how often the relevant entities of a client are determined */
  interestIntervalS: number;
  /** new sessions from all IP addresses together; 0: no limit */
  tokensPerSecond: number;
  /** from one client; 0: no limit */
  limitDatagramsPerSecond: number;
  /** from one client; 0: no limit */
  limitBytesPerSecond: number;
  /** from all clients at one IP address; 0: no limit */
  limitAddressDatagramsPerSecond: number;
  /** from all clients at one IP address; 0: no limit */
  limitAddressBytesPerSecond: number;
  /** the amount of this time may arrive at once */
  limitBurstS: number;
  /** arrived events that the server has not processed */
  limitWaitingEvents: number;
  /** RECKONER_LOG_INFO: lowest level that is logged */
  logLeast: number;
  /** how long a client whose connection was lost can resume its session; 0: it cannot */
  resumeS: number;
  /** 1, instead of addresses: accepts tokens for every server with this key */
  anyServer: number;
  /** 1: a thread reads the socket, also while the game does not call receive */
  receiveThread: number;
  /** how long a client can reconnect with its ticket after it was last connected */
  ticketS: number;
  /** a session without a connection ends after this time */
  halfOpenS: number;
  /** bytes in these events */
  limitWaitingEventBytes: number;
  /** a client that sends nothing for this time is lost */
  limitSilenceS: number;
  /** of one client id at once; a newer session ends the oldest. 0: no limit */
  sessionsPerClient: number;
  /** used tokens of one client id that the server remembers */
  usedTokensPerClient: number;
  /** used tokens that the server remembers; it refuses new tokens while the table is full. Also the number of remembered kicks; the oldest is forgotten then */
  usedTokens: number;
  /** Datagrams with motions per second to one client; motions that are due in between wait. 0: one in every * tick in which something is due. */
  sendRateHz: number;
  /** Game messages taken from one client. Reliable messages beyond a rate wait at the client; unreliable ones * are refused. 0: no limit. */
  clientMessagesPerSecond: number;
  clientMessageBytesPerSecond: number;
  /** for this time, the last input of a player stands in for inputs that are missing */
  repeatInputS: number;
}

export const reckoner_entity_debug = {
  size: 240,
  members: {
    structSize: [0, 'u32'],
    level: [4, 'u32'],
    entity: [8, 'u64'],
    truth: [16, reckoner_state],
    published: [96, reckoner_state],
    ageS: [176, 'f64'],
    errorM: [184, 'f64'],
    errorRad: [192, 'f64'],
    thresholdM: [200, 'f64'],
    thresholdRad: [208, 'f64'],
    clients: [216, 'u64'],
    frame: [224, 'u64'],
    onRoute: [232, 'i32'],
    owned: [236, 'i32'],
  },
} as const satisfies Layout;
export interface EntityDebug {
  /** finest level of detail in use: 0, 1 or 2 for 1, 4 and 16 times the threshold */
  level: number;
  entity: number;
  /** as the game set it last */
  truth: State;
  /** the published motion at the same instant */
  published: State;
  /** the tick's time minus the time stamp of the published motion */
  ageS: number;
  /** distance between truth and published motion */
  errorM: number;
  errorRad: number;
  /** present limit of the error */
  thresholdM: number;
  thresholdRad: number;
  /** clients for which the entity is relevant */
  clients: number;
  /** entity in whose frame it is; 0: the world */
  frame: number;
  /** 1: it moves along a route */
  onRoute: number;
  /** 1: a client owns it */
  owned: number;
}

export const reckoner_ownership_rules = {
  size: 72,
  members: {
    structSize: [0, 'u32'],
    policy: [4, 'i32'],
    gone: [8, 'i32'],
    reserved: [12, 'u32'],
    maxAccelerationMps2: [16, 'f64'],
    maxUpdatesPerS: [24, 'f64'],
    silenceS: [32, 'f64'],
    frameReachM: [40, 'f64'],
    maxTeleportM: [48, 'f64'],
    teleportIntervalS: [56, 'f64'],
    maxTurningMps: [64, 'f64'],
  },
} as const satisfies Layout;
export interface OwnershipRules {
  /** RECKONER_OWNER_POLICY_CORRECT: reaction to motions that exceed the limits */
  policy: number;
  /** RECKONER_OWNER_GONE_REST: what happens to the entity when its owner leaves */
  gone: number;
  /** 1000; largest acceleration, m/s^2 */
  maxAccelerationMps2: number;
  /** 120; the server ignores more */
  maxUpdatesPerS: number;
  /** 1; without motions for this time, the entity comes to rest, s */
  silenceS: number;
  /** 100; largest distance at which the entity may enter the frame of a boardable entity (reckoner_server_set_boardable()), m; 0: it may not */
  frameReachM: number;
  /** 0; largest distance of a teleport that the owner declares, m; 0: it may not */
  maxTeleportM: number;
  /** 0; least time between two such teleports, s */
  teleportIntervalS: number;
  /** 0; how fast a frame that turns may move the entity, m/s; 0: the archetype's speed. If the frame turns it faster, the entity leaves the frame */
  maxTurningMps: number;
}

export const reckoner_prediction_rules = {
  size: 24,
  members: {
    structSize: [0, 'u32'],
    reserved: [4, 'u32'],
    positionM: [8, 'f64'],
    angleRad: [16, 'f64'],
  },
} as const satisfies Layout;
export interface PredictionRules {
  /** 0.01; the server corrects the client if its result is further away along an axis, m; 0.0001 to 100 */
  positionM: number;
  /** 0.01; the same for rotation about any axis, rad; 0.0001 to 1 */
  angleRad: number;
}

export const reckoner_player_input = {
  size: 24,
  members: {
    structSize: [0, 'u32'],
    repeated: [4, 'u32'],
    bytes: [8, 'pointer'],
    size: [12, 'u32'],
    seenS: [16, 'f64'],
  },
} as const satisfies Layout;
export interface PlayerInput {
  /** 0: the input of this tick. Otherwise this input is missing, and `bytes` is that of an earlier tick, which is used for this many ticks more than the player sent it for */
  repeated: number;
  /** at most 64; 0: there is no input, or none for longer than repeat_input_s */
  size: number;
  /** server time of the other entities that the player saw, for reckoner_server_pose_seen_by(), s; 0: there is no input yet */
  seenS: number;
}

export const reckoner_prediction_stats = {
  size: 64,
  members: {
    structSize: [0, 'u32'],
    reserved: [4, 'u32'],
    ticks: [8, 'u64'],
    ticksRepeated: [16, 'u64'],
    inputsLate: [24, 'u64'],
    inputsRefused: [32, 'u64'],
    results: [40, 'u64'],
    mispredicted: [48, 'u64'],
    corrections: [56, 'u64'],
  },
} as const satisfies Layout;
export interface PredictionStats {
  /** ticks for which the game asked for an input, since the first has arrived */
  ticks: number;
  /** ticks whose input had not arrived in time */
  ticksRepeated: number;
  /** inputs that arrived after their tick */
  inputsLate: number;
  /** inputs too far ahead of their tick, or long past */
  inputsRefused: number;
  /** compared results of the client, one for all entities of a tick */
  results: number;
  /** results that were outside the tolerance */
  mispredicted: number;
  /** corrections sent, with those that repeat one */
  corrections: number;
}

export const reckoner_route_key = {
  size: 72,
  members: {
    time: [0, 'f64'],
    position: [8, 'f64', 3],
    tension: [32, 'f64'],
    continuity: [40, 'f64'],
    bias: [48, 'f64'],
    easeTo: [56, 'f64'],
    easeFrom: [64, 'f64'],
  },
} as const satisfies Layout;
export interface RouteKey {
  /** increases from key to key; only weighs the tangents */
  time: number;
  /** m */
  position: ArrayLike<number>;
  /** usually -1 to 1 */
  tension: number;
  /** usually -1 to 1 */
  continuity: number;
  /** usually -1 to 1 */
  bias: number;
  /** 0 to 1 */
  easeTo: number;
  /** 0 to 1 */
  easeFrom: number;
}

export const reckoner_route_config = {
  size: 136,
  members: {
    structSize: [0, 'u32'],
    kind: [4, 'i32'],
    wrap: [8, 'i32'],
    facing: [12, 'i32'],
    pointCount: [16, 'u32'],
    keyCount: [20, 'u32'],
    points: [24, 'pointer'],
    keys: [28, 'pointer'],
    knots: [32, 'i32'],
    reflectEnds: [36, 'i32'],
    passes: [40, 'i32'],
    reserved: [44, 'i32'],
    closingTime: [48, 'f64'],
    up: [56, 'f64', 3],
    orientation: [80, 'f64', 4],
    toleranceM: [112, 'f64'],
    angleLimitRad: [120, 'f64'],
    outlierLimitRad: [128, 'f64'],
  },
} as const satisfies Layout;
export interface RouteConfig {
  /** RECKONER_ROUTE_CATMULL_ROM */
  kind: number;
  /** RECKONER_WRAP_OPEN */
  wrap: number;
  /** RECKONER_FACING_UPRIGHT */
  facing: number;
  /** 0 */
  pointCount: number;
  /** 0 */
  keyCount: number;
  /** 1; for Catmull-Rom: 0 uniform, 1 centripetal, 2 chordal */
  knots: number;
  /** 0 */
  reflectEnds: number;
  /** 2; for Chaikin */
  passes: number;
  /** duration of the last span of a closed TCB; 0: the mean of the others */
  closingTime: number;
  /** 0, 0, 1 */
  up: ArrayLike<number>;
  /** 0, 0, 0, 1; for RECKONER_FACING_FIXED */
  orientation: ArrayLike<number>;
  /** 0: default */
  toleranceM: number;
  /** for Chaikin: cuts corners that turn by this or more; -1: all corners */
  angleLimitRad: number;
  /** before Chaikin's passes, removes spikes that turn by more; 0: none */
  outlierLimitRad: number;
}

export const reckoner_message = {
  size: 32,
  members: {
    structSize: [0, 'u32'],
    sender: [4, 'u32'],
    bytes: [8, 'pointer'],
    size: [12, 'u32'],
    hasTime: [16, 'i32'],
    reserved: [20, 'i32'],
    timeS: [24, 'f64'],
  },
} as const satisfies Layout;
export interface Message {
  /** 0 in a client: the server */
  sender: number;
  size: number;
  hasTime: number;
  timeS: number;
}

export const reckoner_server_event = {
  size: 32,
  members: {
    structSize: [0, 'u32'],
    kind: [4, 'i32'],
    client: [8, 'u32'],
    reserved: [12, 'u32'],
    entity: [16, 'u64'],
    text: [24, 'pointer'],
  },
} as const satisfies Layout;
export interface ServerEvent {
  kind: number;
  client: number;
  entity: number;
}

export const reckoner_seen = {
  size: 48,
  members: {
    entity: [0, 'u64'],
    pose: [8, reckoner_pose],
  },
} as const satisfies Layout;
export interface Seen {
  entity: number;
  pose: Pose;
}

export const reckoner_server_stats = {
  size: 376,
  members: {
    structSize: [0, 'u32'],
    clients: [4, 'u32'],
    entities: [8, 'u32'],
    closing: [12, 'u32'],
    ticks: [16, 'u64'],
    publishes: [24, 'u64'],
    updatesSent: [32, 'u64'],
    fullUpdatesSent: [40, 'u64'],
    repairsSent: [48, 'u64'],
    datagramsSent: [56, 'u64'],
    stateBytesSent: [64, 'u64'],
    datagramsLost: [72, 'u64'],
    malformed: [80, 'u64'],
    messagesSent: [88, 'u64'],
    messagesDropped: [96, 'u64'],
    messagesReceived: [104, 'u64'],
    messagesRefused: [112, 'u64'],
    ownedAccepted: [120, 'u64'],
    ownedCorrected: [128, 'u64'],
    ownedRefused: [136, 'u64'],
    wireBytesSent: [144, 'u64'],
    wireBytesReceived: [152, 'u64'],
    transportRefused: [160, 'u64'],
    transportErrors: [168, 'u64'],
    updateBitsSent: [176, 'u64'],
    routeUpdatesSent: [184, 'u64'],
    routeBitsSent: [192, 'u64'],
    routeEntityTicks: [200, 'u64'],
    fieldChangesSent: [208, 'u64'],
    fieldRepairsSent: [216, 'u64'],
    fieldBitsSent: [224, 'u64'],
    publishedFirst: [232, 'u64'],
    publishedOwner: [240, 'u64'],
    publishedTeleport: [248, 'u64'],
    publishedFrame: [256, 'u64'],
    publishedRoute: [264, 'u64'],
    publishedDue: [272, 'u64'],
    ownedLate: [280, 'u64'],
    ownedAhead: [288, 'u64'],
    ownedTooMany: [296, 'u64'],
    ownedVoidTerms: [304, 'u64'],
    wireDatagramsSent: [312, 'u64'],
    wireDatagramsReceived: [320, 'u64'],
    payloadBytesSent: [328, 'u64'],
    payloadBytesReceived: [336, 'u64'],
    challenges: [344, 'u64'],
    ownedTeleports: [352, 'u64'],
    timesRefused: [360, 'u64'],
    eventsDiscarded: [368, 'u64'],
  },
} as const satisfies Layout;
export interface ServerStats {
  /** now */
  clients: number;
  /** now */
  entities: number;
  /** connections that the server ends and that are not closed yet, now */
  closing: number;
  ticks: number;
  publishes: number;
  updatesSent: number;
  fullUpdatesSent: number;
  repairsSent: number;
  datagramsSent: number;
  stateBytesSent: number;
  datagramsLost: number;
  malformed: number;
  messagesSent: number;
  messagesDropped: number;
  messagesReceived: number;
  messagesRefused: number;
  ownedAccepted: number;
  ownedCorrected: number;
  ownedRefused: number;
  wireBytesSent: number;
  wireBytesReceived: number;
  transportRefused: number;
  transportErrors: number;
  /** part of state_bytes_sent */
  updateBitsSent: number;
  /** of entities on routes */
  routeUpdatesSent: number;
  /** of entities on routes */
  routeBitsSent: number;
  /** of entities on routes */
  routeEntityTicks: number;
  fieldChangesSent: number;
  fieldRepairsSent: number;
  fieldBitsSent: number;
  /** publishes by reason; the sum is `publishes` */
  publishedFirst: number;
  /** publishes by reason; the sum is `publishes` */
  publishedOwner: number;
  /** publishes by reason; the sum is `publishes` */
  publishedTeleport: number;
  /** publishes by reason; the sum is `publishes` */
  publishedFrame: number;
  /** publishes by reason; the sum is `publishes` */
  publishedRoute: number;
  /** publishes by reason; the sum is `publishes` */
  publishedDue: number;
  /** motions of owners that the server ignored */
  ownedLate: number;
  /** motions of owners that the server ignored */
  ownedAhead: number;
  /** motions of owners that the server ignored */
  ownedTooMany: number;
  /** motions of owners that the server ignored */
  ownedVoidTerms: number;
  wireDatagramsSent: number;
  wireDatagramsReceived: number;
  /** part of wire_bytes: without the headers of network and transport */
  payloadBytesSent: number;
  /** part of wire_bytes: without the headers of network and transport */
  payloadBytesReceived: number;
  /** answers to requests to join; a flood with forged addresses shows here */
  challenges: number;
  /** teleports that owners declared and the server accepted */
  ownedTeleports: number;
  /** times more than a day from the others, which no next one confirmed */
  timesRefused: number;
  /** events discarded because more than 16384 waited to be polled */
  eventsDiscarded: number;
}

export const reckoner_entity_traffic = {
  size: 40,
  members: {
    structSize: [0, 'u32'],
    archetype: [4, 'u32'],
    updates: [8, 'u64'],
    motionBits: [16, 'u64'],
    spawnBits: [24, 'u64'],
    fieldBits: [32, 'u64'],
  },
} as const satisfies Layout;
export interface EntityTraffic {
  archetype: number;
  /** motions, without those in spawns */
  updates: number;
  /** their size */
  motionBits: number;
  /** size of its spawns */
  spawnBits: number;
  /** size of the changes of its fields */
  fieldBits: number;
}

export const reckoner_session_stats = {
  size: 136,
  members: {
    structSize: [0, 'u32'],
    connected: [4, 'u32'],
    roundTripS: [8, 'f64'],
    roundTripDeviationS: [16, 'f64'],
    loss: [24, 'f64'],
    sentBytesPerSecond: [32, 'f64'],
    budgetBytesPerSecond: [40, 'f64'],
    entities: [48, 'u64'],
    queuedMotions: [56, 'u64'],
    queuedSpawns: [64, 'u64'],
    queuedMessages: [72, 'u64'],
    queuedMessageBytes: [80, 'u64'],
    sentAgeS: [88, 'f64'],
    behindS: [96, 'f64'],
    datagramsSent: [104, 'u64'],
    datagramsLost: [112, 'u64'],
    bytesSent: [120, 'u64'],
    motionsSent: [128, 'u64'],
  },
} as const satisfies Layout;
export interface SessionStats {
  /** 0: the connection was lost, and the client may resume */
  connected: number;
  /** smoothed; 0: not measured yet */
  roundTripS: number;
  /** smoothed mean deviation */
  roundTripDeviationS: number;
  /** share of the last 200 datagrams, 0 to 1 */
  loss: number;
  /** in the last second */
  sentBytesPerSecond: number;
  budgetBytesPerSecond: number;
  /** that the client follows */
  entities: number;
  /** that wait for the budget */
  queuedMotions: number;
  /** that wait for the budget */
  queuedSpawns: number;
  /** reliable ones that wait or are not confirmed */
  queuedMessages: number;
  /** reliable ones that wait or are not confirmed */
  queuedMessageBytes: number;
  /** age of the motions that were sent recently, at the time of sending */
  sentAgeS: number;
  /** how long the client has lacked the oldest data that it lacks */
  behindS: number;
  /** since the client joined */
  datagramsSent: number;
  /** since the client joined */
  datagramsLost: number;
  /** since the client joined */
  bytesSent: number;
  /** since the client joined */
  motionsSent: number;
}

export const reckoner_client_config = {
  size: 216,
  members: {
    structSize: [0, 'u32'],
    archetypeCount: [4, 'u32'],
    archetypes: [8, 'pointer'],
    host: [12, 'pointer'],
    port: [16, 'u16'],
    reserved: [18, 'u16'],
    insecure: [20, 'i32'],
    token: [24, 'pointer'],
    game: [32, 'u64'],
    mode: [40, 'i32'],
    receiveThread: [44, 'i32'],
    delayS: [48, 'f64'],
    maxDelayS: [56, 'f64'],
    blendS: [64, 'f64'],
    showAheadS: [72, 'f64'],
    ackIntervalS: [80, 'f64'],
    silenceS: [88, 'f64'],
    unconfirmedS: [96, 'f64'],
    ownedUpdatesPerSecond: [104, 'f64'],
    log: [112, 'pointer'],
    logUser: [116, 'pointer'],
    logLeast: [120, 'i32'],
    reconnects: [124, 'i32'],
    reconnectSilenceS: [128, 'f64'],
    reconnectFirstWaitS: [136, 'f64'],
    reconnectGrowth: [144, 'f64'],
    reconnectMostWaitS: [152, 'f64'],
    reconnectJitter: [160, 'f64'],
    reconnectAttemptS: [168, 'f64'],
    reconnectGiveUpS: [176, 'f64'],
    maxEntities: [184, 'u32'],
    reserved2: [188, 'u32'],
    transport: [192, 'pointer'],
    inputDelayTicks: [196, 'u32'],
    inputsPerDatagram: [200, 'u32'],
    blendCurve: [204, 'i32'],
    reserved3: [208, 'i32'],
  },
} as const satisfies Layout;
export interface ClientConfig {
  /** the same archetypes in the same order as on the server */
  archetypeCount: number;
  port: number;
  /** 1: the server is insecure, and there is no token */
  insecure: number;
  /** as on the server */
  game: number;
  /** RECKONER_MODE_PRESENT: the present, by prediction. RECKONER_MODE_AHEAD: the time of the player's inputs * (reckoner_client_next_step()), by prediction; the present until the game steps ticks. The others: the * past, by interpolation. */
  mode: number;
  /** 1: a thread reads the socket as soon as data arrives. The clock is then exact on every system if the game * calls update only once per picture, and the connection stays alive while the game loads a level. All * calls and the log stay on the thread of the game. */
  receiveThread: number;
  /** delay of RECKONER_MODE_DELAYED */
  delayS: number;
  /** largest delay of RECKONER_MODE_ADAPTIVE beyond one tick of the server */
  maxDelayS: number;
  /** duration of a blend; 0: corrections snap */
  blendS: number;
  /** what is shown is ahead of the time of update by this: the time until a picture appears on the screen */
  showAheadS: number;
  /** time between acknowledgements */
  ackIntervalS: number;
  /** after this time without datagrams, shown entities fade to rest */
  silenceS: number;
  /** an entity whose motion is unconfirmed for this time fades to rest */
  unconfirmedS: number;
  /** budget of each owned entity; 0: thresholds decide */
  ownedUpdatesPerSecond: number;
  /** RECKONER_LOG_INFO: lowest level that is logged */
  logLeast: number;
  /** 1: reconnects when the connection is lost after the client has joined */
  reconnects: number;
  /** a connection without datagrams for this time is lost */
  reconnectSilenceS: number;
  /** longest wait before the first attempt, and before another server */
  reconnectFirstWaitS: number;
  /** factor of the wait after all servers were tried in vain */
  reconnectGrowth: number;
  /** longest wait */
  reconnectMostWaitS: number;
  /** random share of each wait */
  reconnectJitter: number;
  /** an attempt fails after this time */
  reconnectAttemptS: number;
  /** the client is disconnected after this time; 0: never */
  reconnectGiveUpS: number;
  /** entities that the client keeps at once; it refuses more */
  maxEntities: number;
  /** an input takes effect this number of ticks after the game gives it */
  inputDelayTicks: number;
  /** every datagram with inputs carries at least this number of new ones */
  inputsPerDatagram: number;
  /** RECKONER_BLEND_DAMPED; see reckoner_blend_settings() */
  blendCurve: number;
}

export const reckoner_client_event = {
  size: 32,
  members: {
    structSize: [0, 'u32'],
    kind: [4, 'i32'],
    entity: [8, 'u64'],
    fields: [16, 'u32'],
    reserved: [20, 'u32'],
    predicted: [24, 'u64'],
  },
} as const satisfies Layout;
export interface ClientEvent {
  kind: number;
  entity: number;
  fields: number;
  /** of SPAWNED: the predicted entity that `entity` replaces; 0: none */
  predicted: number;
}

export const reckoner_shown = {
  size: 208,
  members: {
    structSize: [0, 'u32'],
    archetype: [4, 'u32'],
    entity: [8, 'u64'],
    state: [16, reckoner_state],
    shownTimeS: [96, 'f64'],
    ageS: [104, 'f64'],
    frame: [112, 'u64'],
    local: [120, reckoner_state],
    onRoute: [200, 'i32'],
    reserved: [204, 'i32'],
  },
} as const satisfies Layout;
export interface Shown {
  archetype: number;
  entity: number;
  /** continuous from picture to picture */
  state: State;
  /** server time of `state` */
  shownTimeS: number;
  /** present server time minus the time stamp of the motion in use */
  ageS: number;
  /** entity in whose frame it is; 0: the world */
  frame: number;
  /** `state` in coordinates of the frame */
  local: State;
  /** 1: its pose is on a route */
  onRoute: number;
}

export const reckoner_poses = {
  size: 32,
  members: {
    structSize: [0, 'u32'],
    reserved: [4, 'u32'],
    count: [8, 'u32'],
    entities: [12, 'pointer'],
    positions: [16, 'pointer'],
    orientations: [20, 'pointer'],
    shownTimeS: [24, 'f64'],
  },
} as const satisfies Layout;
export interface Poses {
  count: number;
  shownTimeS: number;
}

export const reckoner_playout = {
  size: 40,
  members: {
    structSize: [0, 'u32'],
    mode: [4, 'i32'],
    delayS: [8, 'f64'],
    maxDelayS: [16, 'f64'],
    blendS: [24, 'f64'],
    blendCurve: [32, 'i32'],
    reserved: [36, 'i32'],
  },
} as const satisfies Layout;
export interface Playout {
  /** RECKONER_MODE_PRESENT */
  mode: number;
  /** delay of RECKONER_MODE_DELAYED */
  delayS: number;
  /** largest delay of RECKONER_MODE_ADAPTIVE beyond one tick of the server */
  maxDelayS: number;
  /** duration of a blend; 0: corrections snap */
  blendS: number;
  /** RECKONER_BLEND_DAMPED */
  blendCurve: number;
}

export const reckoner_prediction_step = {
  size: 12,
  members: {
    tick: [0, 'u32'],
    inputSize: [4, 'u32'],
    input: [8, 'pointer'],
  },
} as const satisfies Layout;
export interface PredictionStep {
  /** the server's tick */
  tick: number;
  inputSize: number;
}

export const reckoner_corrected_entity = {
  size: 96,
  members: {
    entity: [0, 'u64'],
    state: [8, reckoner_state],
    gameState: [88, 'pointer'],
    gameStateSize: [92, 'u32'],
  },
} as const satisfies Layout;
export interface CorrectedEntity {
  entity: number;
  state: State;
  gameStateSize: number;
}

export const reckoner_correction = {
  size: 32,
  members: {
    structSize: [0, 'u32'],
    reason: [4, 'i32'],
    tick: [8, 'u32'],
    entityCount: [12, 'u32'],
    entities: [16, 'pointer'],
    steps: [20, 'pointer'],
    stepCount: [24, 'u32'],
    reserved: [28, 'u32'],
  },
} as const satisfies Layout;
export interface Correction {
  /** RECKONER_CORRECTION_BEGINS...; later versions append */
  reason: number;
  /** the states are those after this tick */
  tick: number;
  entityCount: number;
  stepCount: number;
}

export const reckoner_shown_debug = {
  size: 352,
  members: {
    structSize: [0, 'u32'],
    reserved: [4, 'u32'],
    entity: [8, 'u64'],
    shown: [16, reckoner_state],
    motion: [96, reckoner_state],
    shownTimeS: [176, 'f64'],
    motionTimeS: [184, 'f64'],
    ageS: [192, 'f64'],
    blendM: [200, 'f64'],
    blendRad: [208, 'f64'],
    blendLeftS: [216, 'f64'],
    thresholdM: [224, 'f64'],
    thresholdRad: [232, 'f64'],
    frame: [240, 'u64'],
    fading: [248, 'i32'],
    owned: [252, 'i32'],
    predicted: [256, 'i32'],
    corrected: [260, 'i32'],
    predictionTicks: [264, 'u64'],
    predictionLeadS: [272, 'f64'],
    predictionFadingM: [280, 'f64'],
    predictionNewest: [288, 'u32'],
    predictionCorrections: [292, 'u32'],
    correctionTick: [296, 'u32'],
    correctionReason: [300, 'i32'],
    correctionCause: [304, 'i32'],
    correctionHadResult: [308, 'i32'],
    correctionAgeS: [312, 'f64'],
    correctionErrorM: [320, 'f64'],
    correctionErrorRad: [328, 'f64'],
    correctionInputLateS: [336, 'f64'],
    correctionInputTick: [344, 'u32'],
    correctionGameStateDiffers: [348, 'i32'],
  },
} as const satisfies Layout;
export interface ShownDebug {
  entity: number;
  /** the drawn state */
  shown: State;
  /** the known motion at the same instant, without the blend */
  motion: State;
  /** server time of that instant */
  shownTimeS: number;
  /** time stamp of the newest motion */
  motionTimeS: number;
  /** present server time minus motion_time_s */
  ageS: number;
  /** distance between the shown state and the motion, because of the blend */
  blendM: number;
  blendRad: number;
  /** remaining time of the blend; 0: there is no blend */
  blendLeftS: number;
  /** the archetype's thresholds, from the server */
  thresholdM: number;
  thresholdRad: number;
  /** entity in whose frame it is; 0: the world */
  frame: number;
  /** 1: its motion is unconfirmed for too long, and it fades to rest */
  fading: number;
  /** 1: this client owns it */
  owned: number;
  /** 1: it is; 0: the members below are 0 */
  predicted: number;
  /** 1: the game has taken a correction with it; 0: those of it are 0 */
  corrected: number;
  /** ticks that the game has computed for it, without those of replays */
  predictionTicks: number;
  /** how far the inputs are ahead of the server */
  predictionLeadS: number;
  /** the part of an error that still fades */
  predictionFadingM: number;
  /** the newest tick that the game has computed */
  predictionNewest: number;
  /** corrections that the game has taken in this session, for any entity */
  predictionCorrections: number;
  /** of the newest correction */
  correctionTick: number;
  /** RECKONER_CORRECTION_BEGINS...; later versions append */
  correctionReason: number;
  /** RECKONER_CAUSE_BEGINS...; later versions append */
  correctionCause: number;
  /** 1: the game had computed the entity for that tick */
  correctionHadResult: number;
  /** time since the game has taken it */
  correctionAgeS: number;
  /** distance of the game's result from the server's state */
  correctionErrorM: number;
  /** angle between their orientations */
  correctionErrorRad: number;
  /** how long after its tick the input came, at least; 0 with other causes */
  correctionInputLateS: number;
  /** the tick of that input */
  correctionInputTick: number;
  /** 1: the bytes of the game were others */
  correctionGameStateDiffers: number;
}

export const reckoner_client_stats = {
  size: 272,
  members: {
    structSize: [0, 'u32'],
    reserved: [4, 'u32'],
    datagramsReceived: [8, 'u64'],
    datagramsLost: [16, 'u64'],
    datagramsStale: [24, 'u64'],
    updatesApplied: [32, 'u64'],
    updatesStale: [40, 'u64'],
    malformed: [48, 'u64'],
    unknownReferences: [56, 'u64'],
    stateBytesReceived: [64, 'u64'],
    corrections: [72, 'u64'],
    messagesSent: [80, 'u64'],
    messagesDropped: [88, 'u64'],
    messagesReceived: [96, 'u64'],
    messagesRefused: [104, 'u64'],
    wireBytesSent: [112, 'u64'],
    wireBytesReceived: [120, 'u64'],
    transportRefused: [128, 'u64'],
    transportErrors: [136, 'u64'],
    roundTripS: [144, 'f64'],
    delayS: [152, 'f64'],
    fieldChangesApplied: [160, 'u64'],
    fieldChangesStale: [168, 'u64'],
    connectionsLost: [176, 'u64'],
    messagesAbandoned: [184, 'u64'],
    wireDatagramsSent: [192, 'u64'],
    wireDatagramsReceived: [200, 'u64'],
    payloadBytesSent: [208, 'u64'],
    payloadBytesReceived: [216, 'u64'],
    entitiesRefused: [224, 'u64'],
    timesRefused: [232, 'u64'],
    clockRate: [240, 'f64'],
    eventsDiscarded: [248, 'u64'],
    mispredictions: [256, 'u64'],
    inputLeadS: [264, 'f64'],
  },
} as const satisfies Layout;
export interface ClientStats {
  datagramsReceived: number;
  datagramsLost: number;
  datagramsStale: number;
  updatesApplied: number;
  updatesStale: number;
  malformed: number;
  unknownReferences: number;
  stateBytesReceived: number;
  corrections: number;
  messagesSent: number;
  messagesDropped: number;
  messagesReceived: number;
  messagesRefused: number;
  wireBytesSent: number;
  wireBytesReceived: number;
  transportRefused: number;
  transportErrors: number;
  /** smallest of the recent ones */
  roundTripS: number;
  /** delay of the shown time behind server time */
  delayS: number;
  fieldChangesApplied: number;
  fieldChangesStale: number;
  /** whether the client reconnected or not */
  connectionsLost: number;
  /** reliable messages without confirmation at the end of their session */
  messagesAbandoned: number;
  wireDatagramsSent: number;
  wireDatagramsReceived: number;
  /** part of wire_bytes: without the headers of network and transport */
  payloadBytesSent: number;
  /** part of wire_bytes: without the headers of network and transport */
  payloadBytesReceived: number;
  /** beyond max_entities, or in the frame of such an entity; they are not shown */
  entitiesRefused: number;
  /** local times that were ignored because they were far from the time before, and not confirmed by the next one; a clock that is set back counts once */
  timesRefused: number;
  /** seconds of the server's clock per second of the game's clock, as corrected */
  clockRate: number;
  /** events discarded because more than 131072 waited to be polled */
  eventsDiscarded: number;
  /** corrections of predicted entities */
  mispredictions: number;
  /** how far the player's inputs are ahead of the server's time */
  inputLeadS: number;
}

/** The C functions of reckoner_client.wasm. */
export interface ClientFunctions {
  reckoner_error_text(result: number): Pointer;
  reckoner_version(): Pointer;
  reckoner_protocol_version(): number;
  reckoner_out_of_frame(frame: Pointer, local: Pointer, outer: Pointer): void;
  reckoner_into_frame(frame: Pointer, outer: Pointer, local: Pointer): void;
  reckoner_refusal_name(reason: number): Pointer;
  reckoner_field_spec_init(spec: Pointer, structSize: number): void;
  reckoner_archetype_init(archetype: Pointer, structSize: number): void;
  reckoner_call_error_text(error: number): Pointer;
  reckoner_client_config_init(config: Pointer, structSize: number): void;
  reckoner_client_create(config: Pointer, client: Pointer, why: Pointer, whySize: number): number;
  reckoner_client_destroy(client: Pointer): void;
  reckoner_client_update(client: Pointer, localS: number): number;
  reckoner_client_leave(client: Pointer): number;
  reckoner_client_status(client: Pointer): number;
  reckoner_client_refusal(client: Pointer): Pointer;
  reckoner_client_poll_event(client: Pointer, event: Pointer): number;
  reckoner_client_poll_message(client: Pointer, message: Pointer): number;
  reckoner_client_send(client: Pointer, bytes: Pointer, size: number, delivery: number, timeS: Pointer): number;
  reckoner_client_flush(client: Pointer): number;
  reckoner_client_shown_poses(client: Pointer, poses: Pointer): number;
  reckoner_client_set_paused(client: Pointer, paused: number): number;
  reckoner_playout_init(playout: Pointer, structSize: number): void;
  reckoner_client_set_playout(client: Pointer, playout: Pointer): number;
  reckoner_client_name(client: Pointer, entity: bigint): Pointer;
  reckoner_client_short_lived(client: Pointer, entity: bigint, data: Pointer, size: Pointer, endS: Pointer): number;
  reckoner_client_field(client: Pointer, entity: bigint, field: number, value: Pointer): number;
  reckoner_client_server_time(client: Pointer, serverTimeS: Pointer): number;
  reckoner_client_correct(client: Pointer, entity: bigint, shown: Pointer): number;
  reckoner_client_anticipate(client: Pointer, entity: bigint, shown: Pointer, anticipatedS: number): number;
  reckoner_client_set_origin(client: Pointer, origin: Pointer): number;
  reckoner_client_move(client: Pointer, entity: bigint, state: Pointer): number;
  reckoner_client_move_in(client: Pointer, entity: bigint, state: Pointer, frame: bigint): number;
  reckoner_client_teleport(client: Pointer, entity: bigint, state: Pointer, frame: bigint): number;
  reckoner_client_predict_spawn(client: Pointer, archetype: number, state: Pointer, key: number, patienceS: number, entity: Pointer): number;
  reckoner_client_drop_prediction(client: Pointer, entity: bigint): number;
  reckoner_client_next_step(client: Pointer, input: Pointer, inputSize: number, step: Pointer): number;
  reckoner_client_predict(client: Pointer, entity: bigint, tick: number, state: Pointer, gameState: Pointer, gameStateSize: number): number;
  reckoner_client_poll_correction(client: Pointer, correction: Pointer): number;
  reckoner_client_call_error(client: Pointer): number;
  reckoner_client_owned(client: Pointer, entity: bigint, state: Pointer): number;
  reckoner_client_owned_frame(client: Pointer, entity: bigint, frame: Pointer): number;
  reckoner_client_motion_at(client: Pointer, entity: bigint, serverTimeS: number, state: Pointer): number;
  reckoner_client_get_stats(client: Pointer, stats: Pointer): number;
}

/** The C functions of reckoner_server.wasm. */
export interface ServerFunctions {
  reckoner_error_text(result: number): Pointer;
  reckoner_version(): Pointer;
  reckoner_protocol_version(): number;
  reckoner_out_of_frame(frame: Pointer, local: Pointer, outer: Pointer): void;
  reckoner_into_frame(frame: Pointer, outer: Pointer, local: Pointer): void;
  reckoner_refusal_name(reason: number): Pointer;
  reckoner_field_spec_init(spec: Pointer, structSize: number): void;
  reckoner_archetype_init(archetype: Pointer, structSize: number): void;
  reckoner_server_config_init(config: Pointer, structSize: number): void;
  reckoner_server_create(config: Pointer, server: Pointer, why: Pointer, whySize: number): number;
  reckoner_server_destroy(server: Pointer): void;
  reckoner_server_receive(server: Pointer, nowS: number): number;
  reckoner_server_tick(server: Pointer, nowS: number): number;
  reckoner_server_next_tick(server: Pointer, tick: Pointer, timeS: Pointer): number;
  reckoner_server_shutdown(server: Pointer): number;
  reckoner_server_spawn(server: Pointer, archetype: number, name: Pointer, state: Pointer, frame: bigint, entity: Pointer): number;
  reckoner_server_spawn_short_lived(server: Pointer, archetype: number, state: Pointer, endS: Pointer, data: Pointer, size: number, predictedBy: number, prediction: number, frame: bigint, entity: Pointer): number;
  reckoner_server_refuse_prediction(server: Pointer, client: number, key: number): number;
  reckoner_server_call_error(server: Pointer): number;
  reckoner_call_error_text(error: number): Pointer;
  reckoner_server_despawn(server: Pointer, entity: bigint): number;
  reckoner_server_move(server: Pointer, entity: bigint, truth: Pointer): number;
  reckoner_server_teleport(server: Pointer, entity: bigint, truth: Pointer): number;
  reckoner_server_state(server: Pointer, entity: bigint, state: Pointer): number;
  reckoner_server_in_world(server: Pointer, entity: bigint, state: Pointer): number;
  reckoner_server_entities(server: Pointer, entities: Pointer, capacity: number, count: Pointer): number;
  reckoner_server_entities_near(server: Pointer, centre: Pointer, radiusM: number, entities: Pointer, capacity: number, count: Pointer): number;
  reckoner_server_published(server: Pointer, entity: bigint, state: Pointer, timeS: Pointer): number;
  reckoner_server_debug(server: Pointer, entity: bigint, debug: Pointer): number;
  reckoner_server_enter_frame(server: Pointer, entity: bigint, frame: bigint): number;
  reckoner_server_set_boardable(server: Pointer, entity: bigint, boardable: number): number;
  reckoner_server_frame_of(server: Pointer, entity: bigint, frame: Pointer): number;
  reckoner_server_set_origin(server: Pointer, origin: Pointer): number;
  reckoner_server_set_relevance(server: Pointer, client: number, entity: bigint, relevance: number): number;
  reckoner_server_set_entity_groups(server: Pointer, entity: bigint, groups: number): number;
  reckoner_server_set_client_groups(server: Pointer, client: number, groups: number): number;
  reckoner_server_set_view(server: Pointer, client: number, eye: Pointer): number;
  reckoner_server_set_field(server: Pointer, entity: bigint, field: number, value: Pointer): number;
  reckoner_server_field(server: Pointer, entity: bigint, field: number, value: Pointer): number;
  reckoner_ownership_rules_init(rules: Pointer, structSize: number): void;
  reckoner_server_give(server: Pointer, entity: bigint, owner: number, rules: Pointer): number;
  reckoner_server_revoke(server: Pointer, entity: bigint): number;
  reckoner_server_owner(server: Pointer, entity: bigint, owner: Pointer): number;
  reckoner_prediction_rules_init(rules: Pointer, structSize: number): void;
  reckoner_server_let_predict(server: Pointer, entity: bigint, client: number, rules: Pointer): number;
  reckoner_server_stop_prediction(server: Pointer, entity: bigint, client: number): number;
  reckoner_server_set_game_state(server: Pointer, entity: bigint, bytes: Pointer, size: number): number;
  reckoner_server_input(server: Pointer, client: number, input: Pointer): number;
  reckoner_server_get_prediction_stats(server: Pointer, client: number, stats: Pointer): number;
  reckoner_route_config_init(config: Pointer, structSize: number): void;
  reckoner_server_add_route(server: Pointer, config: Pointer, route: Pointer, why: Pointer, whySize: number): number;
  reckoner_server_route_length(server: Pointer, route: number, lengthM: Pointer): number;
  reckoner_server_route_state(server: Pointer, route: number, distanceM: number, speedMps: number, accelerationMps2: number, state: Pointer): number;
  reckoner_server_route_nearest(server: Pointer, route: number, point: Pointer, distanceM: Pointer, awayM: Pointer): number;
  reckoner_server_follow(server: Pointer, entity: bigint, route: number): number;
  reckoner_server_leave_route(server: Pointer, entity: bigint): number;
  reckoner_server_move_along(server: Pointer, entity: bigint, distanceM: number, speedMps: number, accelerationMps2: number): number;
  reckoner_server_send(server: Pointer, client: number, bytes: Pointer, size: number, delivery: number, timeS: Pointer): number;
  reckoner_server_broadcast(server: Pointer, except: number, bytes: Pointer, size: number, delivery: number, timeS: Pointer, reached: Pointer): number;
  reckoner_server_broadcast_listed(server: Pointer, clients: Pointer, count: number, except: number, bytes: Pointer, size: number, delivery: number, timeS: Pointer, reached: Pointer): number;
  reckoner_server_broadcast_within(server: Pointer, centre: Pointer, radiusM: number, except: number, bytes: Pointer, size: number, delivery: number, timeS: Pointer, reached: Pointer): number;
  reckoner_server_broadcast_seeing(server: Pointer, entity: bigint, except: number, bytes: Pointer, size: number, delivery: number, timeS: Pointer, reached: Pointer): number;
  reckoner_server_poll_message(server: Pointer, message: Pointer): number;
  reckoner_server_poll_event(server: Pointer, event: Pointer): number;
  reckoner_server_identity(server: Pointer, client: number, clientId: Pointer, userData: Pointer): number;
  reckoner_server_kick(server: Pointer, client: number, reason: Pointer): number;
  reckoner_server_kick_player(server: Pointer, clientId: bigint, reason: Pointer, ended: Pointer): number;
  reckoner_server_pose_seen_by(server: Pointer, client: number, entity: bigint, timeS: number, pose: Pointer): number;
  reckoner_server_rewind_status(server: Pointer, client: number, timeS: number, status: Pointer): number;
  reckoner_server_rewind(server: Pointer, client: number, timeS: number, seen: Pointer, capacity: number, count: Pointer): number;
  reckoner_server_get_stats(server: Pointer, stats: Pointer): number;
  reckoner_sent_content_name(content: number): Pointer;
  reckoner_server_traffic(server: Pointer, content: number, count: Pointer, bits: Pointer): number;
  reckoner_server_archetype_traffic(server: Pointer, archetype: number, content: number, count: Pointer, bits: Pointer): number;
  reckoner_server_field_traffic(server: Pointer, archetype: number, field: number, count: Pointer, bits: Pointer): number;
  reckoner_server_traffic_of(server: Pointer, entity: bigint, traffic: Pointer): number;
  reckoner_server_get_session_stats(server: Pointer, client: number, stats: Pointer): number;
  reckoner_server_clients(server: Pointer, clients: Pointer, capacity: number, count: Pointer): number;
  reckoner_server_refused(server: Pointer, reason: number, payloads: Pointer, datagrams: Pointer): number;
}
