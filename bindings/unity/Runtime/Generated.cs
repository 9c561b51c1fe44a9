// SPDX-License-Identifier: MIT
// Generated from capi/include/reckoner.h by bindings/generate.py. Do not edit.
using System;
using System.Runtime.InteropServices;

#pragma warning disable 169, 649, 1591 // the library sets the fields; reckoner.h documents them

namespace Reckoner {
  public enum ResultCode { Ok = 0, Nothing = 1, ErrorArgument = -1, ErrorStruct = -2, ErrorUnknown = -3, ErrorRefused = -4, ErrorNetwork = -5, ErrorMemory = -6, ErrorCapacity = -7, ErrorInternal = -8 }
  public enum LogLevel { Debug = 0, Info = 1, Warning = 2, Error = 3 }
  public enum LogType { Boolean = 0, Integer = 1, Unsigned = 2, Real = 3, Text = 4 }
  public enum ValueType { Boolean = 0, Integer = 1, Real = 2, Blob = 3 }
  public enum FloorKind { None = 0, Plane = 1, Terrain = 2 }
  public enum VelocitySource { Automatic = 0, Given = 1, Estimated = 2 }
  public enum ByteCount { KeyBytes = 32, TokenBytes = 1024, UserBytes = 256, MaxInputBytes = 64, MaxGameStateBytes = 128 }
  public enum CallError { UnknownEntity = 1, UnknownArchetype = 2, UnknownFrame = 3, TooDeep = 4, NameTooLong = 5, DataTooLong = 6, EndOutOfRange = 7, WorldFull = 8, NotFinite = 9, OutsideWorld = 10, TooFast = 11, BeyondLimits = 12, Owned = 13, NotOwned = 14, EventNotPolled = 15, NoClock = 16, NoRoute = 17, Circle = 18, ShortLived = 19, UnknownClient = 20, NoConnection = 21, NoOwner = 22, UnknownRoute = 23, UnknownField = 24, WrongType = 25, OutOfRange = 26, MessageEmpty = 27, MessageTooLong = 28, QueueFull = 29, InvalidTime = 30, ReasonTooLong = 31, NotShown = 32, NotPredicted = 33, TooManyPredicted = 34, Predicted = 35, NoStep = 36 }
  public enum Relevance { ByDistance = 0, Always = 1, Never = 2 }
  public enum OwnerPolicy { Accept = 0, Correct = 1, Refuse = 2 }
  public enum OwnerGone { Rest = 0, Despawn = 1 }
  public enum RouteKind { CatmullRom = 0, Tcb = 1, Chaikin = 2, Polyline = 3 }
  public enum RouteWrap { Open = 0, Closed = 1, PingPong = 2 }
  public enum RouteFacing { Upright = 0, Minimal = 1, Fixed = 2 }
  public enum Delivery { Reliable = 0, Unreliable = 1, ReliableUnordered = 2 }
  public enum ServerEventKind { ClientJoined = 0, ClientLeft = 1, ClientRefused = 2, OwnerCorrected = 3, OwnerRefused = 4, ClientLost = 5, ClientBack = 6 }
  public enum RewindStatus { Known = 0, Pending = 1, Unavailable = 2 }
  public enum SentContent { FullMotion = 0, ResidualMotion = 1, RouteMotion = 2, Spawn = 3, Field = 4, End = 5, Message = 6, ReliableMessage = 7, Header = 8, Prediction = 9 }
  public enum Mode { Present = 0, Adaptive = 1, Delayed = 2, Ahead = 3 }
  public enum BlendCurve { Cubic = 0, Damped = 1 }
  public enum BlendProfile { Article = 0, Balanced = 1, Accurate = 2, Gentle = 3 }
  public enum Status { Connecting = 0, Joining = 1, Joined = 2, Refused = 3, Disconnected = 4, Reconnecting = 5 }
  public enum ClientEventKind { Joined = 0, Spawned = 1, Despawned = 2, Teleported = 3, FieldsChanged = 4, Given = 5, Revoked = 6, Corrected = 7, ServerClosed = 8, Disconnected = 9, Lost = 10, Resumed = 11, Restarted = 12, PredictionFailed = 13, Snapped = 14, PredictionBegan = 15, PredictionEnded = 16 }
  public enum CorrectionReason { Begins = 0, InputMissing = 1, Differs = 2, Teleported = 3 }
  public enum CorrectionCause { Begins = 0, Teleported = 1, InputMissing = 2, InputLate = 3, InputLost = 4, GameState = 5, SmallDifference = 6, Differs = 7 }
  [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
  internal unsafe delegate void LogFunction(void* @user, LogRecord* @record);

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct LogField {
    internal byte* Name;
    public int Type;
    internal uint Reserved;
    public long Integer;
    public ulong UnsignedInteger;
    public double Real;
    internal byte* Text;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct LogRecord {
    internal uint StructSize;
    public int Level;
    internal byte* Event;
    internal byte* Line;
    internal LogField* Fields;
    public uint FieldCount;
    internal uint Reserved;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct State {
    public Double3 Position;
    public Float3 Velocity;
    public Float3 Acceleration;
    public Float4 Orientation;
    public Float3 AngularVelocity;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct Pose {
    public Double3 Position;
    public Float4 Orientation;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct Value {
    public int Type;
    public uint BlobSize;
    public long Integer;
    public double Real;
    public fixed byte Blob[64];
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct Clock {
    public double RealS;
    public double GameS;
    public double Scale;
    public double NextScale;
    public double EaseS;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct FieldSpec {
    internal uint StructSize;
    public int Type;
    internal byte* Name;
    public long IntegerLeast;
    public long IntegerMost;
    public double RealLeast;
    public double RealMost;
    public double RealStep;
    public uint MostBytes;
    internal uint Reserved;
    public Value Initial;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct WallBox {
    public Double3 Centre;
    public Double3 HalfSize;
    public Float4 Orientation;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct ArchetypeSettings {
    internal uint StructSize;
    public uint FieldCount;
    internal byte* Name;
    internal FieldSpec* Fields;
    public double ThresholdM;
    public double ThresholdRad;
    public double MaxSpeedMps;
    public double WorldSizeM;
    public int HasOrientation;
    public int NeverReverses;
    public int Floor;
    internal uint Reserved;
    public Double3 FloorUp;
    public double FloorHeightM;
    internal IntPtr FloorAt;
    internal void* FloorUser;
    internal byte* Codes;
    internal WallBox* WallBoxes;
    public uint WallCount;
    public int Velocity;
    public double WallMarginM;
    internal IntPtr WallReach;
    internal void* WallUser;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct Address {
    public uint Host;
    public ushort Port;
    internal ushort Reserved;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct Grant {
    internal uint StructSize;
    public uint ServerCount;
    internal Address* Servers;
    public ulong ClientId;
    public ulong ExpiresS;
    public ulong Game;
    internal byte* UserData;
    public uint UserDataSize;
    internal uint Reserved;
    public ulong RenewableUntilS;
    public ulong IssuedMs;
    internal byte* MoreServers;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct ServerSettings {
    internal uint StructSize;
    public uint ArchetypeCount;
    internal ArchetypeSettings* Archetypes;
    internal byte* Host;
    public ushort Port;
    internal ushort Reserved;
    public int Insecure;
    internal byte* Key;
    public ulong Game;
    public uint AddressCount;
    public uint PeersPerAddress;
    internal Address* Addresses;
    public double HandshakesPerSecond;
    public double TickRateHz;
    public double EpochS;
    public uint MaxClients;
    public uint MaxEntities;
    public ulong BytesPerSecond;
    public int FollowLink;
    public uint Threads;
    public double HeartbeatS;
    public double JoinTimeoutS;
    public double UpdatesPerSecond;
    public double FixedRateHz;
    public double RewindS;
    public double InterestRadiusM;
    public double InterestHysteresis;
    public Double2 InterestLevelDistanceM;
    public double InterestIntervalS;
    public double TokensPerSecond;
    public double LimitDatagramsPerSecond;
    public double LimitBytesPerSecond;
    public double LimitAddressDatagramsPerSecond;
    public double LimitAddressBytesPerSecond;
    public double LimitBurstS;
    internal ulong Reserved3;
    internal ulong Reserved4;
    internal ulong Reserved5;
    public ulong LimitWaitingEvents;
    internal IntPtr Log;
    internal void* LogUser;
    public int LogLeast;
    internal int Reserved2;
    public double ResumeS;
    public int AnyServer;
    public int ReceiveThread;
    public double TicketS;
    public double HalfOpenS;
    public ulong LimitWaitingEventBytes;
    public double LimitSilenceS;
    public uint SessionsPerClient;
    public uint UsedTokensPerClient;
    public ulong UsedTokens;
    internal byte* MoreAddresses;
    public double SendRateHz;
    public double ClientMessagesPerSecond;
    public ulong ClientMessageBytesPerSecond;
    internal byte* Transport;
    public double RepeatInputS;
    internal IntPtr Web;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct EntityDebug {
    internal uint StructSize;
    public uint Level;
    public ulong Entity;
    public State Truth;
    public State Published;
    public double AgeS;
    public double ErrorM;
    public double ErrorRad;
    public double ThresholdM;
    public double ThresholdRad;
    public ulong Clients;
    public ulong Frame;
    public int OnRoute;
    public int Owned;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct OwnershipRules {
    internal uint StructSize;
    public int Policy;
    public int Gone;
    internal uint Reserved;
    public double MaxAccelerationMps2;
    public double MaxUpdatesPerS;
    public double SilenceS;
    public double FrameReachM;
    public double MaxTeleportM;
    public double TeleportIntervalS;
    public double MaxTurningMps;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct PredictionRules {
    internal uint StructSize;
    internal uint Reserved;
    public double PositionM;
    public double AngleRad;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct NativePlayerInput {
    internal uint StructSize;
    public uint Repeated;
    internal byte* Bytes;
    public UIntPtr Size;
    public double SeenS;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct PredictionStats {
    internal uint StructSize;
    internal uint Reserved;
    public ulong Ticks;
    public ulong TicksRepeated;
    public ulong InputsLate;
    public ulong InputsRefused;
    public ulong Results;
    public ulong Mispredicted;
    public ulong Corrections;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct RouteKey {
    public double Time;
    public Double3 Position;
    public double Tension;
    public double Continuity;
    public double Bias;
    public double EaseTo;
    public double EaseFrom;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct RouteSettings {
    internal uint StructSize;
    public int Kind;
    public int Wrap;
    public int Facing;
    public uint PointCount;
    public uint KeyCount;
    internal double* Points;
    internal RouteKey* Keys;
    public int Knots;
    public int ReflectEnds;
    public int Passes;
    internal int Reserved;
    public double ClosingTime;
    public Double3 Up;
    public Double4 Orientation;
    public double ToleranceM;
    public double AngleLimitRad;
    public double OutlierLimitRad;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct NativeMessage {
    internal uint StructSize;
    public uint Sender;
    internal byte* Bytes;
    public UIntPtr Size;
    public int HasTime;
    internal int Reserved;
    public double TimeS;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct NativeServerEvent {
    internal uint StructSize;
    public int Kind;
    public uint Client;
    internal uint Reserved;
    public ulong Entity;
    internal byte* Text;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct SeenPose {
    public ulong Entity;
    public Pose Pose;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct ServerStats {
    internal uint StructSize;
    public uint Clients;
    public uint Entities;
    public uint Closing;
    public ulong Ticks;
    public ulong Publishes;
    public ulong UpdatesSent;
    public ulong FullUpdatesSent;
    public ulong RepairsSent;
    public ulong DatagramsSent;
    public ulong StateBytesSent;
    public ulong DatagramsLost;
    public ulong Malformed;
    public ulong MessagesSent;
    public ulong MessagesDropped;
    public ulong MessagesReceived;
    public ulong MessagesRefused;
    public ulong OwnedAccepted;
    public ulong OwnedCorrected;
    public ulong OwnedRefused;
    public ulong WireBytesSent;
    public ulong WireBytesReceived;
    public ulong TransportRefused;
    public ulong TransportErrors;
    public ulong UpdateBitsSent;
    public ulong RouteUpdatesSent;
    public ulong RouteBitsSent;
    public ulong RouteEntityTicks;
    public ulong FieldChangesSent;
    public ulong FieldRepairsSent;
    public ulong FieldBitsSent;
    public ulong PublishedFirst;
    public ulong PublishedOwner;
    public ulong PublishedTeleport;
    public ulong PublishedFrame;
    public ulong PublishedRoute;
    public ulong PublishedDue;
    public ulong OwnedLate;
    public ulong OwnedAhead;
    public ulong OwnedTooMany;
    public ulong OwnedVoidTerms;
    public ulong WireDatagramsSent;
    public ulong WireDatagramsReceived;
    public ulong PayloadBytesSent;
    public ulong PayloadBytesReceived;
    public ulong Challenges;
    public ulong OwnedTeleports;
    public ulong TimesRefused;
    public ulong EventsDiscarded;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct EntityTraffic {
    internal uint StructSize;
    public uint Archetype;
    public ulong Updates;
    public ulong MotionBits;
    public ulong SpawnBits;
    public ulong FieldBits;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct SessionStats {
    internal uint StructSize;
    public uint Connected;
    public double RoundTripS;
    public double RoundTripDeviationS;
    public double Loss;
    public double SentBytesPerSecond;
    public double BudgetBytesPerSecond;
    public ulong Entities;
    public ulong QueuedMotions;
    public ulong QueuedSpawns;
    public ulong QueuedMessages;
    public ulong QueuedMessageBytes;
    public double SentAgeS;
    public double BehindS;
    public ulong DatagramsSent;
    public ulong DatagramsLost;
    public ulong BytesSent;
    public ulong MotionsSent;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct ClientSettings {
    internal uint StructSize;
    public uint ArchetypeCount;
    internal ArchetypeSettings* Archetypes;
    internal byte* Host;
    public ushort Port;
    internal ushort Reserved;
    public int Insecure;
    internal byte* Token;
    public ulong Game;
    public int Mode;
    public int ReceiveThread;
    public double DelayS;
    public double MaxDelayS;
    public double BlendS;
    public double ShowAheadS;
    public double AckIntervalS;
    public double SilenceS;
    public double UnconfirmedS;
    public double OwnedUpdatesPerSecond;
    internal IntPtr Log;
    internal void* LogUser;
    public int LogLeast;
    public int Reconnects;
    public double ReconnectSilenceS;
    public double ReconnectFirstWaitS;
    public double ReconnectGrowth;
    public double ReconnectMostWaitS;
    public double ReconnectJitter;
    public double ReconnectAttemptS;
    public double ReconnectGiveUpS;
    public uint MaxEntities;
    internal uint Reserved2;
    internal byte* Transport;
    public uint InputDelayTicks;
    public uint InputsPerDatagram;
    public int BlendCurve;
    internal int Reserved3;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct ClientEvent {
    internal uint StructSize;
    public int Kind;
    public ulong Entity;
    public uint Fields;
    internal uint Reserved;
    public ulong Predicted;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct Shown {
    internal uint StructSize;
    public uint Archetype;
    public ulong Entity;
    public State State;
    public double ShownTimeS;
    public double AgeS;
    public ulong Frame;
    public State Local;
    public int OnRoute;
    internal int Reserved;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct NativePoses {
    internal uint StructSize;
    internal uint Reserved;
    public UIntPtr Count;
    internal ulong* Entities;
    internal double* Positions;
    internal float* Orientations;
    public double ShownTimeS;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct Playout {
    internal uint StructSize;
    public int Mode;
    public double DelayS;
    public double MaxDelayS;
    public double BlendS;
    public int BlendCurve;
    internal int Reserved;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct NativeStep {
    public uint Tick;
    public uint InputSize;
    internal byte* Input;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct NativeCorrectedEntity {
    public ulong Entity;
    public State State;
    internal byte* GameState;
    public UIntPtr GameStateSize;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct NativeCorrection {
    internal uint StructSize;
    public int Reason;
    public uint Tick;
    public uint EntityCount;
    internal NativeCorrectedEntity* Entities;
    internal NativeStep* Steps;
    public uint StepCount;
    internal uint Reserved;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct ShownDebug {
    internal uint StructSize;
    internal uint Reserved;
    public ulong Entity;
    public State Shown;
    public State Motion;
    public double ShownTimeS;
    public double MotionTimeS;
    public double AgeS;
    public double BlendM;
    public double BlendRad;
    public double BlendLeftS;
    public double ThresholdM;
    public double ThresholdRad;
    public ulong Frame;
    public int Fading;
    public int Owned;
    public int Predicted;
    public int Corrected;
    public ulong PredictionTicks;
    public double PredictionLeadS;
    public double PredictionFadingM;
    public uint PredictionNewest;
    public uint PredictionCorrections;
    public uint CorrectionTick;
    public int CorrectionReason;
    public int CorrectionCause;
    public int CorrectionHadResult;
    public double CorrectionAgeS;
    public double CorrectionErrorM;
    public double CorrectionErrorRad;
    public double CorrectionInputLateS;
    public uint CorrectionInputTick;
    public int CorrectionGameStateDiffers;
  }

  [StructLayout(LayoutKind.Sequential)]
  public unsafe partial struct ClientStats {
    internal uint StructSize;
    internal uint Reserved;
    public ulong DatagramsReceived;
    public ulong DatagramsLost;
    public ulong DatagramsStale;
    public ulong UpdatesApplied;
    public ulong UpdatesStale;
    public ulong Malformed;
    public ulong UnknownReferences;
    public ulong StateBytesReceived;
    public ulong Corrections;
    public ulong MessagesSent;
    public ulong MessagesDropped;
    public ulong MessagesReceived;
    public ulong MessagesRefused;
    public ulong WireBytesSent;
    public ulong WireBytesReceived;
    public ulong TransportRefused;
    public ulong TransportErrors;
    public double RoundTripS;
    public double DelayS;
    public ulong FieldChangesApplied;
    public ulong FieldChangesStale;
    public ulong ConnectionsLost;
    public ulong MessagesAbandoned;
    public ulong WireDatagramsSent;
    public ulong WireDatagramsReceived;
    public ulong PayloadBytesSent;
    public ulong PayloadBytesReceived;
    public ulong EntitiesRefused;
    public ulong TimesRefused;
    public double ClockRate;
    public ulong EventsDiscarded;
    public ulong Mispredictions;
    public double InputLeadS;
  }

  internal static unsafe class Native {
    internal const string Version = "0.2.0";
#if UNITY_IOS && !UNITY_EDITOR
    internal const string Library = "__Internal";
#else
    internal const string Library = "reckoner";
#endif
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern byte* reckoner_error_text(int @result);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern byte* reckoner_version();
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern uint reckoner_protocol_version();
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_check_version(byte* @version, byte* @why, UIntPtr @whySize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_set_allocator(IntPtr @allocate, IntPtr @release);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_state_init(State* @state);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_out_of_frame(State* @frame, State* @local, State* @outer);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_into_frame(State* @frame, State* @outer, State* @local);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_clock_init(Clock* @clock, double @realS, double @gameS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_clock_set_scale(Clock* @clock, double @scale, double @realS, double @easeS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern double reckoner_clock_at(Clock* @clock, double @realS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern double reckoner_clock_scale_at(Clock* @clock, double @realS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern double reckoner_clock_real_time_of(Clock* @clock, double @gameS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern byte* reckoner_refusal_name(uint @reason);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_field_spec_init(FieldSpec* @spec, uint @structSize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_archetype_init(ArchetypeSettings* @archetype, uint @structSize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_find_archetype(ArchetypeSettings* @archetypes, uint @count, byte* @name, uint* @index, byte* @why, UIntPtr @whySize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_find_field(ArchetypeSettings* @archetype, byte* @name, uint* @index, byte* @why, UIntPtr @whySize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_make_key(byte* @key);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_key_from_text(byte* @text, byte* @key);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_key_to_text(byte* @key, byte* @text);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_grant_init(Grant* @grant, uint @structSize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_issue_token(Grant* @grant, byte* @key, byte* @token);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_server_config_init(ServerSettings* @config, uint @structSize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_create(ServerSettings* @config, IntPtr* @server, byte* @why, UIntPtr @whySize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_server_destroy(IntPtr @server);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern ushort reckoner_server_port(IntPtr @server);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_receive(IntPtr @server, double @nowS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_tick(IntPtr @server, double @nowS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_next_tick(IntPtr @server, uint* @tick, double* @timeS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_wait(IntPtr @server, double @seconds);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_shutdown(IntPtr @server);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_spawn(IntPtr @server, uint @archetype, byte* @name, State* @state, ulong @frame, ulong* @entity);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_spawn_short_lived(IntPtr @server, uint @archetype, State* @state, double* @endS, void* @data, UIntPtr @size, uint @predictedBy, uint @prediction, ulong @frame, ulong* @entity);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_refuse_prediction(IntPtr @server, uint @client, uint @key);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern uint reckoner_server_call_error(IntPtr @server);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern byte* reckoner_call_error_text(uint @error);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_despawn(IntPtr @server, ulong @entity);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_move(IntPtr @server, ulong @entity, State* @truth);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_teleport(IntPtr @server, ulong @entity, State* @truth);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_state(IntPtr @server, ulong @entity, State* @state);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_in_world(IntPtr @server, ulong @entity, State* @state);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_entities(IntPtr @server, ulong* @entities, UIntPtr @capacity, UIntPtr* @count);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_entities_near(IntPtr @server, double* @centre, double @radiusM, ulong* @entities, UIntPtr @capacity, UIntPtr* @count);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_set_user_value(IntPtr @server, ulong @entity, ulong @value);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_user_value(IntPtr @server, ulong @entity, ulong* @value);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_published(IntPtr @server, ulong @entity, State* @state, double* @timeS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_debug(IntPtr @server, ulong @entity, EntityDebug* @debug);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_enter_frame(IntPtr @server, ulong @entity, ulong @frame);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_set_boardable(IntPtr @server, ulong @entity, int @boardable);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_frame_of(IntPtr @server, ulong @entity, ulong* @frame);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_set_origin(IntPtr @server, double* @origin);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_set_relevance(IntPtr @server, uint @client, ulong @entity, int @relevance);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_set_entity_groups(IntPtr @server, ulong @entity, uint @groups);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_set_client_groups(IntPtr @server, uint @client, uint @groups);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_set_view(IntPtr @server, uint @client, double* @eye);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_set_field(IntPtr @server, ulong @entity, uint @field, Value* @value);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_field(IntPtr @server, ulong @entity, uint @field, Value* @value);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_ownership_rules_init(OwnershipRules* @rules, uint @structSize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_give(IntPtr @server, ulong @entity, uint @owner, OwnershipRules* @rules);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_revoke(IntPtr @server, ulong @entity);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_owner(IntPtr @server, ulong @entity, uint* @owner);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_prediction_rules_init(PredictionRules* @rules, uint @structSize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_let_predict(IntPtr @server, ulong @entity, uint @client, PredictionRules* @rules);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_stop_prediction(IntPtr @server, ulong @entity, uint @client);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_set_game_state(IntPtr @server, ulong @entity, void* @bytes, UIntPtr @size);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_input(IntPtr @server, uint @client, NativePlayerInput* @input);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_get_prediction_stats(IntPtr @server, uint @client, PredictionStats* @stats);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_route_config_init(RouteSettings* @config, uint @structSize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_add_route(IntPtr @server, RouteSettings* @config, uint* @route, byte* @why, UIntPtr @whySize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_route_length(IntPtr @server, uint @route, double* @lengthM);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_route_state(IntPtr @server, uint @route, double @distanceM, double @speedMps, double @accelerationMps2, State* @state);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_route_nearest(IntPtr @server, uint @route, double* @point, double* @distanceM, double* @awayM);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_follow(IntPtr @server, ulong @entity, uint @route);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_leave_route(IntPtr @server, ulong @entity);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_move_along(IntPtr @server, ulong @entity, double @distanceM, double @speedMps, double @accelerationMps2);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_send(IntPtr @server, uint @client, void* @bytes, UIntPtr @size, int @delivery, double* @timeS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_broadcast(IntPtr @server, uint @except, void* @bytes, UIntPtr @size, int @delivery, double* @timeS, UIntPtr* @reached);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_broadcast_listed(IntPtr @server, uint* @clients, UIntPtr @count, uint @except, void* @bytes, UIntPtr @size, int @delivery, double* @timeS, UIntPtr* @reached);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_broadcast_within(IntPtr @server, double* @centre, double @radiusM, uint @except, void* @bytes, UIntPtr @size, int @delivery, double* @timeS, UIntPtr* @reached);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_broadcast_seeing(IntPtr @server, ulong @entity, uint @except, void* @bytes, UIntPtr @size, int @delivery, double* @timeS, UIntPtr* @reached);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_poll_message(IntPtr @server, NativeMessage* @message);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_poll_event(IntPtr @server, NativeServerEvent* @event);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_identity(IntPtr @server, uint @client, ulong* @clientId, byte* @userData);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_kick(IntPtr @server, uint @client, byte* @reason);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_kick_player(IntPtr @server, ulong @clientId, byte* @reason, UIntPtr* @ended);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_pose_seen_by(IntPtr @server, uint @client, ulong @entity, double @timeS, Pose* @pose);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_rewind_status(IntPtr @server, uint @client, double @timeS, uint* @status);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_rewind(IntPtr @server, uint @client, double @timeS, SeenPose* @seen, UIntPtr @capacity, UIntPtr* @count);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_get_stats(IntPtr @server, ServerStats* @stats);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern byte* reckoner_sent_content_name(uint @content);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_traffic(IntPtr @server, uint @content, ulong* @count, ulong* @bits);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_archetype_traffic(IntPtr @server, uint @archetype, uint @content, ulong* @count, ulong* @bits);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_field_traffic(IntPtr @server, uint @archetype, uint @field, ulong* @count, ulong* @bits);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_traffic_of(IntPtr @server, ulong @entity, EntityTraffic* @traffic);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_get_session_stats(IntPtr @server, uint @client, SessionStats* @stats);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_clients(IntPtr @server, uint* @clients, UIntPtr @capacity, UIntPtr* @count);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_server_refused(IntPtr @server, uint @reason, ulong* @payloads, ulong* @datagrams);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_blend_settings(int @profile, int* @blendCurve, double* @blendS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_client_config_init(ClientSettings* @config, uint @structSize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_create(ClientSettings* @config, IntPtr* @client, byte* @why, UIntPtr @whySize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_client_destroy(IntPtr @client);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_update(IntPtr @client, double @localS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_wait(IntPtr @client, double @seconds);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_leave(IntPtr @client);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_status(IntPtr @client);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern byte* reckoner_client_refusal(IntPtr @client);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_lost_for(IntPtr @client, double* @seconds);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_set_token(IntPtr @client, byte* @token);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_ticket(IntPtr @client, byte* @token);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_poll_event(IntPtr @client, ClientEvent* @event);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_poll_message(IntPtr @client, NativeMessage* @message);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_send(IntPtr @client, void* @bytes, UIntPtr @size, int @delivery, double* @timeS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_flush(IntPtr @client);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_shown(IntPtr @client, Shown* @shown, uint @elementSize, UIntPtr @capacity, UIntPtr* @count);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_shown_one(IntPtr @client, ulong @entity, Shown* @shown);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_shown_poses(IntPtr @client, NativePoses* @poses);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_shown_poses_into(IntPtr @client, ulong* @entities, double* @positions, float* @orientations, UIntPtr @capacity, UIntPtr* @count, double* @shownTimeS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_set_paused(IntPtr @client, int @paused);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern void reckoner_playout_init(Playout* @playout, uint @structSize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_set_playout(IntPtr @client, Playout* @playout);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern byte* reckoner_client_name(IntPtr @client, ulong @entity);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_short_lived(IntPtr @client, ulong @entity, byte** @data, UIntPtr* @size, double* @endS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_set_user_value(IntPtr @client, ulong @entity, ulong @value);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_user_value(IntPtr @client, ulong @entity, ulong* @value);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_field(IntPtr @client, ulong @entity, uint @field, Value* @value);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_server_time(IntPtr @client, double* @serverTimeS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_correct(IntPtr @client, ulong @entity, State* @shown);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_anticipate(IntPtr @client, ulong @entity, State* @shown, double @anticipatedS);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_set_origin(IntPtr @client, double* @origin);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_move(IntPtr @client, ulong @entity, State* @state);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_move_in(IntPtr @client, ulong @entity, State* @state, ulong @frame);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_teleport(IntPtr @client, ulong @entity, State* @state, ulong @frame);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_predict_spawn(IntPtr @client, uint @archetype, State* @state, uint @key, double @patienceS, ulong* @entity);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_drop_prediction(IntPtr @client, ulong @entity);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_next_step(IntPtr @client, void* @input, UIntPtr @inputSize, NativeStep* @step);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_predict(IntPtr @client, ulong @entity, uint @tick, State* @state, void* @gameState, UIntPtr @gameStateSize);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_poll_correction(IntPtr @client, NativeCorrection* @correction);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern uint reckoner_client_call_error(IntPtr @client);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_owned(IntPtr @client, ulong @entity, State* @state);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_owned_frame(IntPtr @client, ulong @entity, ulong* @frame);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_motion_at(IntPtr @client, ulong @entity, double @serverTimeS, State* @state);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_debug(IntPtr @client, ulong @entity, ShownDebug* @debug);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_get_stats(IntPtr @client, ClientStats* @stats);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
    internal static extern int reckoner_client_refused(IntPtr @client, uint @reason, ulong* @payloads, ulong* @datagrams);
  }
}
