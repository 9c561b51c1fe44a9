// SPDX-License-Identifier: MIT
// The publishing side.
using System;
using System.Collections.Generic;

namespace Reckoner {
  /// Where a server listens and whom it admits. Settings has the library's defaults (docs/REFERENCE.md).
  public sealed unsafe class ServerOptions {
    public string Host;
    public ushort Port;
    public bool Insecure;
    public byte[] Key;
    /// "udp" (IPv4 and IPv6, with a key or insecure) or "enet" (ENet: IPv4, insecure); null: "udp" with a key, "enet"
    /// if insecure.
    public string Transport;
    public Address[] Addresses;
    public IList<Archetype> Archetypes;  ///< null: one default archetype
    public Action<LogLevel, string> Log;
    public ServerSettings Settings;

    public ServerOptions() {
      Library.Require();
      fixed (ServerSettings* settings = &Settings)
        Native.reckoner_server_config_init(settings, (uint)sizeof(ServerSettings));
      Settings.EpochS = Now.Seconds;  // tick 0 is due now
    }
  }

  public struct ServerEvent {
    public ServerEventKind Kind;
    public uint Client;
    public ulong Entity;
    public string Text;  ///< ClientRefused: the reason
  }

  /// Publishes entities to clients. Call Receive() soon after datagrams arrive; in each tick, move the entities, then call
  /// Tick().
  public sealed unsafe class Server : Handle {
    MessageBuffer message;
    readonly ByteBuffer input = new ByteBuffer();

    public Server(ServerOptions options) {
      NativeArchetypes archetypes = Keep(options.Archetypes);
      Library.OfSize(options.Key, ByteCount.KeyBytes, "a key");
      ServerSettings settings = options.Settings;
      settings.Archetypes = archetypes.Pointer;
      settings.ArchetypeCount = archetypes.Count;
      settings.Port = options.Port;
      settings.Insecure = options.Insecure ? 1 : 0;
      settings.Log = KeepLog(options.Log, out settings.LogUser);
      byte* why = stackalloc byte[400];
      IntPtr handle;
      int result;
      fixed (byte* host = Library.Bytes(options.Host)) fixed (byte* key = options.Key)
      fixed (Address* addresses = options.Addresses) fixed (byte* transport = Library.Bytes(options.Transport)) {
        settings.Host = host;
        settings.Transport = transport;
        settings.Key = key;
        settings.Addresses = addresses;
        settings.AddressCount = (uint)(options.Addresses?.Length ?? 0);
        result = Native.reckoner_server_create(&settings, &handle, why, (UIntPtr)400);
      }
      Created(result, why);
      Own(handle);
    }

    internal override void Destroy(IntPtr handle) => Native.reckoner_server_destroy(handle);

    public ushort Port => Native.reckoner_server_port(C);
    public void Receive(double nowS) => Done(Native.reckoner_server_receive(C, nowS));
    public void Tick(double nowS) => Done(Native.reckoner_server_tick(C, nowS));
    public void Wait(double seconds) => Done(Native.reckoner_server_wait(C, seconds));
    /// Ends all sessions and admits no more clients. Call Receive() until Stats().Closing is 0, for example at most 5 s: the
    /// server first sends the reliable messages that clients still lack. A client that has crashed does not answer.
    /// Dispose() does not wait.
    public void Shutdown() => Done(Native.reckoner_server_shutdown(C));
    /// The time of the next tick. True if it is due.
    public bool IsDue(double nowS, out double tickS) {
      double time;
      Done(Native.reckoner_server_next_tick(C, null, &time));
      tickS = time;
      return time <= nowS;
    }

    // -- Entities

    internal override uint LastError() => Native.reckoner_server_call_error(C);

    public ulong Spawn(State state, string name = "", uint archetype = 0, ulong frame = 0) {
      ulong entity;
      fixed (byte* n = Library.Bytes(name))
        Done(Native.reckoner_server_spawn(C, archetype, n, &state, frame, &entity));
      return entity;
    }
    /// Adds an entity that lives for seconds, with up to 256 bytes for the clients' games.
    public ulong SpawnShortLived(State state, uint archetype = 0, double? endS = null,
                                 ReadOnlySpan<byte> data = default, uint predictedBy = 0, uint prediction = 0,
                                 ulong frame = 0) {
      ulong entity;
      double end = endS ?? 0;
      fixed (byte* d = data)
        Done(Native.reckoner_server_spawn_short_lived(C, archetype, &state, endS.HasValue ? &end : null, d,
                                                       (UIntPtr)data.Length, predictedBy, prediction, frame, &entity));
      return entity;
    }
    public void RefusePrediction(uint client, uint key) =>
        Done(Native.reckoner_server_refuse_prediction(C, client, key));
    public void Despawn(ulong entity) => Done(Native.reckoner_server_despawn(C, entity));
    public void Move(ulong entity, State truth) => Done(Native.reckoner_server_move(C, entity, &truth));
    public void Teleport(ulong entity, State truth) => Done(Native.reckoner_server_teleport(C, entity, &truth));
    public State StateOf(ulong entity) {
      State state;
      Done(Native.reckoner_server_state(C, entity, &state));
      return state;
    }
    public State InWorld(ulong entity) {
      State state;
      Done(Native.reckoner_server_in_world(C, entity, &state));
      return state;
    }
    public bool TryPublished(ulong entity, out State state, out double timeS) {
      State s = default;
      double time = 0;
      bool found = Done(Native.reckoner_server_published(C, entity, &s, &time));
      state = s;
      timeS = time;
      return found;
    }
    /// Writes as many ids as fit, and returns how many there are.
    public int Entities(Span<ulong> ids) {
      UIntPtr count;
      fixed (ulong* to = ids) Counted(Native.reckoner_server_entities(C, to, (UIntPtr)ids.Length, &count));
      return (int)count;
    }
    public int EntitiesNear(Double3 centre, double radiusM, Span<ulong> ids) {
      UIntPtr count;
      fixed (ulong* to = ids)
        Counted(Native.reckoner_server_entities_near(C, (double*)&centre, radiusM, to, (UIntPtr)ids.Length, &count));
      return (int)count;
    }
    void Counted(int result) {
      if (result != (int)ResultCode.ErrorCapacity) Done(result);
    }
    public void SetUserValue(ulong entity, ulong value) =>
        Done(Native.reckoner_server_set_user_value(C, entity, value));
    public ulong UserValue(ulong entity) {
      ulong value;
      Done(Native.reckoner_server_user_value(C, entity, &value));
      return value;
    }
    public void SetField(ulong entity, uint field, Value value) =>
        Done(Native.reckoner_server_set_field(C, entity, field, &value));
    public Value Field(ulong entity, uint field) {
      Value value;
      Done(Native.reckoner_server_field(C, entity, field, &value));
      return value;
    }
    public void EnterFrame(ulong entity, ulong frame) => Done(Native.reckoner_server_enter_frame(C, entity, frame));
    public void SetBoardable(ulong entity, bool boardable) =>
        Done(Native.reckoner_server_set_boardable(C, entity, boardable ? 1 : 0));
    public ulong FrameOf(ulong entity) {
      ulong frame;
      Done(Native.reckoner_server_frame_of(C, entity, &frame));
      return frame;
    }
    public void SetOrigin(Double3 origin) => Done(Native.reckoner_server_set_origin(C, (double*)&origin));
    public void SetRelevance(ulong entity, Relevance relevance, uint client = 0) =>
        Done(Native.reckoner_server_set_relevance(C, client, entity, (int)relevance));
    public void SetEntityGroups(ulong entity, uint groups) =>
        Done(Native.reckoner_server_set_entity_groups(C, entity, groups));
    public void SetClientGroups(uint client, uint groups) =>
        Done(Native.reckoner_server_set_client_groups(C, client, groups));
    public void SetView(uint client, Double3 eye) => Done(Native.reckoner_server_set_view(C, client, (double*)&eye));

    // -- Ownership

    public static OwnershipRules DefaultRules() {
      Library.Require();
      OwnershipRules rules;
      Native.reckoner_ownership_rules_init(&rules, (uint)sizeof(OwnershipRules));
      return rules;
    }
    public void Give(ulong entity, uint owner) => Done(Native.reckoner_server_give(C, entity, owner, null));
    public void Give(ulong entity, uint owner, OwnershipRules rules) =>
        Done(Native.reckoner_server_give(C, entity, owner, &rules));
    /// Ends the ownership. False if no client owned the entity.
    public bool Revoke(ulong entity) => Done(Native.reckoner_server_revoke(C, entity));
    public uint Owner(ulong entity) {
      uint owner;
      Done(Native.reckoner_server_owner(C, entity, &owner));
      return owner;
    }

    // -- The players' own bodies

    public static PredictionRules DefaultPredictionRules() {
      Library.Require();
      PredictionRules rules;
      Native.reckoner_prediction_rules_init(&rules, (uint)sizeof(PredictionRules));
      return rules;
    }
    /// Lets a client predict an entity: the client's game steps it with the player's inputs, at once, and the server's game
    /// decides. Several clients may predict one entity, and a client at most eight.
    public void LetPredict(ulong entity, uint client) =>
        Done(Native.reckoner_server_let_predict(C, entity, client, null));
    public void LetPredict(ulong entity, uint client, PredictionRules rules) =>
        Done(Native.reckoner_server_let_predict(C, entity, client, &rules));
    /// The client shows the entity like those of others from now on.
    public void StopPrediction(ulong entity, uint client) =>
        Done(Native.reckoner_server_stop_prediction(C, entity, client));
    /// Sets bytes of the game that belong to the exact state of an entity, at most 128, for example a cooldown. Call it
    /// together with Move().
    public void SetGameState(ulong entity, ReadOnlySpan<byte> bytes) {
      fixed (byte* b = bytes) Done(Native.reckoner_server_set_game_state(C, entity, b, (UIntPtr)bytes.Length));
    }
    /// What a player does in the next tick. Call it once for each client and tick, between Receive() and Tick(). Empty if the
    /// client is unknown.
    public PlayerInput Input(uint client) {
      var i = new NativePlayerInput { StructSize = (uint)sizeof(NativePlayerInput) };
      Done(Native.reckoner_server_input(C, client, &i));
      input.Clear();
      int size = (int)i.Size;
      return new PlayerInput(input.Span(input.Add(i.Bytes, size), size), i.Repeated, i.SeenS);
    }
    /// Figures of a client's inputs and predictions. False if it has no session.
    public bool TryPredictionStats(uint client, out PredictionStats stats) {
      var s = new PredictionStats { StructSize = (uint)sizeof(PredictionStats) };
      bool found = Done(Native.reckoner_server_get_prediction_stats(C, client, &s));
      stats = s;
      return found;
    }

    // -- Routes

    public static RouteSettings DefaultRoute() {
      Library.Require();
      RouteSettings settings;
      Native.reckoner_route_config_init(&settings, (uint)sizeof(RouteSettings));
      return settings;
    }
    public uint AddRoute(ReadOnlySpan<Double3> points) => AddRoute(points, default, DefaultRoute());
    /// Keys are for RouteKind.Tcb, points for all others.
    public uint AddRoute(ReadOnlySpan<Double3> points, ReadOnlySpan<RouteKey> keys, RouteSettings settings) {
      uint route;
      byte* why = stackalloc byte[400];
      fixed (Double3* p = points) fixed (RouteKey* k = keys) {
        settings.Points = (double*)p;
        settings.PointCount = (uint)points.Length;
        settings.Keys = k;
        settings.KeyCount = (uint)keys.Length;
        int result = Native.reckoner_server_add_route(C, &settings, &route, why, (UIntPtr)400);
        Library.Check(result, result < 0 ? Library.Text(why) : null);
        GC.KeepAlive(this);  // not finalised during the call
      }
      return route;
    }
    public double RouteLength(uint route) {
      double length;
      Done(Native.reckoner_server_route_length(C, route, &length));
      return length;
    }
    public State RouteState(uint route, double distanceM, double speedMps = 0, double accelerationMps2 = 0) {
      State state;
      Done(Native.reckoner_server_route_state(C, route, distanceM, speedMps, accelerationMps2, &state));
      return state;
    }
    public double RouteNearest(uint route, Double3 point, out double awayM) {
      double distance, away;
      Done(Native.reckoner_server_route_nearest(C, route, (double*)&point, &distance, &away));
      awayM = away;
      return distance;
    }
    public void Follow(ulong entity, uint route) => Done(Native.reckoner_server_follow(C, entity, route));
    public void LeaveRoute(ulong entity) => Done(Native.reckoner_server_leave_route(C, entity));
    public void MoveAlong(ulong entity, double distanceM, double speedMps, double accelerationMps2 = 0) =>
        Done(Native.reckoner_server_move_along(C, entity, distanceM, speedMps, accelerationMps2));

    // -- Clients

    public bool PollEvent(out ServerEvent polled) {
      var e = new NativeServerEvent { StructSize = (uint)sizeof(NativeServerEvent) };
      bool any = Done(Native.reckoner_server_poll_event(C, &e));
      polled = any ? new ServerEvent { Kind = (ServerEventKind)e.Kind, Client = e.Client, Entity = e.Entity,
                                       Text = Library.Text(e.Text) } : default;
      return any;
    }
    public bool PollMessage(out Message polled) {
      var m = new NativeMessage { StructSize = (uint)sizeof(NativeMessage) };
      bool any = Done(Native.reckoner_server_poll_message(C, &m));
      polled = any ? message.Read(m) : default;
      return any;
    }
    /// Client 0: to all.
    public void Send(ReadOnlySpan<byte> bytes, uint client = 0, Delivery delivery = Delivery.Reliable,
                     double? timeS = null) {
      double time = timeS ?? 0;
      fixed (byte* b = bytes)
        Done(Native.reckoner_server_send(C, client, b, (UIntPtr)bytes.Length, (int)delivery,
                                         timeS.HasValue ? &time : null));
    }
    /// To all clients except one (0: to all). The number of clients to which the message was sent.
    public int Broadcast(ReadOnlySpan<byte> bytes, Delivery delivery = Delivery.Reliable, double? timeS = null,
                         uint except = 0) {
      double time = timeS ?? 0;
      UIntPtr reached;
      fixed (byte* b = bytes)
        Done(Native.reckoner_server_broadcast(C, except, b, (UIntPtr)bytes.Length, (int)delivery,
                                              timeS.HasValue ? &time : null, &reached));
      return (int)reached;
    }
    /// To the clients in a list. Those that have left are skipped.
    public int Broadcast(ReadOnlySpan<uint> clients, ReadOnlySpan<byte> bytes, Delivery delivery = Delivery.Reliable,
                         double? timeS = null, uint except = 0) {
      double time = timeS ?? 0;
      UIntPtr reached;
      fixed (uint* to = clients)
      fixed (byte* b = bytes)
        Done(Native.reckoner_server_broadcast_listed(C, to, (UIntPtr)clients.Length, except, b, (UIntPtr)bytes.Length,
                                                     (int)delivery, timeS.HasValue ? &time : null, &reached));
      return (int)reached;
    }
    /// To the clients whose eye is at most radiusM from a point.
    public int Broadcast(Double3 centre, double radiusM, ReadOnlySpan<byte> bytes,
                         Delivery delivery = Delivery.Reliable, double? timeS = null, uint except = 0) {
      double time = timeS ?? 0;
      UIntPtr reached;
      fixed (byte* b = bytes)
        Done(Native.reckoner_server_broadcast_within(C, (double*)&centre, radiusM, except, b, (UIntPtr)bytes.Length,
                                                     (int)delivery, timeS.HasValue ? &time : null, &reached));
      return (int)reached;
    }
    /// To the clients that see an entity.
    public int BroadcastSeeing(ulong entity, ReadOnlySpan<byte> bytes, Delivery delivery = Delivery.Reliable,
                               double? timeS = null, uint except = 0) {
      double time = timeS ?? 0;
      UIntPtr reached;
      fixed (byte* b = bytes)
        Done(Native.reckoner_server_broadcast_seeing(C, entity, except, b, (UIntPtr)bytes.Length, (int)delivery,
                                                     timeS.HasValue ? &time : null, &reached));
      return (int)reached;
    }
    public int Clients(Span<uint> ids) {
      UIntPtr count;
      fixed (uint* to = ids) Counted(Native.reckoner_server_clients(C, to, (UIntPtr)ids.Length, &count));
      return (int)count;
    }
    /// False on an insecure server. userData: the 256 bytes of the token, or null.
    public bool TryIdentity(uint client, out ulong clientId, byte[] userData = null) {
      Library.OfSize(userData, ByteCount.UserBytes, "user data");
      ulong id = 0;
      bool found;
      fixed (byte* data = userData) found = Done(Native.reckoner_server_identity(C, client, &id, data));
      clientId = id;
      return found;
    }
    /// Ends a client's session, and all others of its client id; it is told the reason. Tokens that were issued before
    /// become invalid. False if the client is unknown.
    public bool Kick(uint client, string reason = null) {
      fixed (byte* text = Library.Bytes(reason)) return Done(Native.reckoner_server_kick(C, client, text));
    }
    /// Kicks the player with a client id, whether it has sessions here or not. The number of sessions that have ended.
    public int KickPlayer(ulong clientId, string reason = null) {
      UIntPtr ended;
      fixed (byte* text = Library.Bytes(reason)) Done(Native.reckoner_server_kick_player(C, clientId, text, &ended));
      return (int)ended;
    }

    // -- Lag compensation

    public RewindStatus RewindStatus(uint client, double timeS) {
      uint status;
      Done(Native.reckoner_server_rewind_status(C, client, timeS, &status));
      return (RewindStatus)status;
    }
    public bool TryPoseSeenBy(uint client, ulong entity, double timeS, out Pose pose) {
      Pose p = default;
      bool found = Done(Native.reckoner_server_pose_seen_by(C, client, entity, timeS, &p));
      pose = p;
      return found;
    }
    /// Writes as many poses as fit, and returns how many there are.
    public int Rewind(uint client, double timeS, Span<SeenPose> seen) {
      UIntPtr count;
      fixed (SeenPose* to = seen) Counted(Native.reckoner_server_rewind(C, client, timeS, to, (UIntPtr)seen.Length, &count));
      return (int)count;
    }

    // -- Figures

    public bool TryDebug(ulong entity, out EntityDebug debug) {
      var d = new EntityDebug { StructSize = (uint)sizeof(EntityDebug) };
      bool found = Done(Native.reckoner_server_debug(C, entity, &d));
      debug = d;
      return found;
    }
    public ServerStats Stats() {
      var stats = new ServerStats { StructSize = (uint)sizeof(ServerStats) };
      Done(Native.reckoner_server_get_stats(C, &stats));
      return stats;
    }
    public bool TrySessionStats(uint client, out SessionStats stats) {
      var s = new SessionStats { StructSize = (uint)sizeof(SessionStats) };
      bool found = Done(Native.reckoner_server_get_session_stats(C, client, &s));
      stats = s;
      return found;
    }
    /// What costs bandwidth: number and bits of what was sent to all clients since the server was created. The bits of all
    /// contents add up to 8 * Stats().StateBytesSent.
    public void Traffic(SentContent content, out ulong count, out ulong bits) {
      ulong c, b;
      Done(Native.reckoner_server_traffic(C, (uint)content, &c, &b));
      count = c;
      bits = b;
    }
    /// Traffic() of the entities of one archetype, with entities that have ended: the contents up to Field.
    public void ArchetypeTraffic(uint archetype, SentContent content, out ulong count, out ulong bits) {
      ulong c, b;
      Done(Native.reckoner_server_archetype_traffic(C, archetype, (uint)content, &c, &b));
      count = c;
      bits = b;
    }
    /// The changed values of a field that were sent. Values in spawns count as spawns.
    public void FieldTraffic(uint archetype, uint field, out ulong count, out ulong bits) {
      ulong c, b;
      Done(Native.reckoner_server_field_traffic(C, archetype, field, &c, &b));
      count = c;
      bits = b;
    }
    /// What an entity has cost since its spawn, summed over all clients.
    public EntityTraffic TrafficOf(ulong entity) {
      var traffic = new EntityTraffic { StructSize = (uint)sizeof(EntityTraffic) };
      Done(Native.reckoner_server_traffic_of(C, entity, &traffic));
      return traffic;
    }
    public void Refused(uint reason, out ulong payloads, out ulong datagrams) {
      ulong p, d;
      Done(Native.reckoner_server_refused(C, reason, &p, &d));
      payloads = p;
      datagrams = d;
    }
  }
}
