// SPDX-License-Identifier: MIT
// The showing side.
using System;
using System.Collections.Generic;

namespace Reckoner {
  /// How a client connects. Settings has the library's defaults: mode, blend, reconnects (docs/REFERENCE.md).
  public sealed unsafe class ClientOptions {
    public string Host;
    public ushort Port;
    public bool Insecure;
    public byte[] Token;
    /// "udp" or "enet", as on the server; null: "udp" with a token, "enet" if insecure.
    public string Transport;
    public IList<Archetype> Archetypes;  ///< null: one default archetype
    public Action<LogLevel, string> Log;
    public ClientSettings Settings;

    public ClientOptions() {
      Library.Require();
      fixed (ClientSettings* settings = &Settings)
        Native.reckoner_client_config_init(settings, (uint)sizeof(ClientSettings));
    }
  }

  /// The poses of all visible entities, in the same order in every span. Valid until the next call of ShownPoses().
  public readonly ref struct Poses {
    public readonly ReadOnlySpan<ulong> Entities;
    public readonly ReadOnlySpan<Double3> Positions;
    public readonly ReadOnlySpan<Float4> Orientations;
    public readonly double ShownTimeS;
    internal Poses(ReadOnlySpan<ulong> entities, ReadOnlySpan<Double3> positions, ReadOnlySpan<Float4> orientations,
                   double shownTimeS) {
      Entities = entities;
      Positions = positions;
      Orientations = orientations;
      ShownTimeS = shownTimeS;
    }
  }

  /// Connects to a server and shows its entities. For each picture: Update(), PollEvent() and PollMessage() until they return
  /// false, then ShownPoses() or Shown(), and Flush() if the game has sent messages. Only Update() has a time; all other calls
  /// use the time of the last Update(). These calls allocate nothing, except when there are more entities than ever before. Spans point into memory of this object, not of the library.
  public sealed unsafe class Client : Handle {
    ulong[] entities = new ulong[64];
    Double3[] positions = new Double3[64];
    Float4[] orientations = new Float4[64];
    Shown[] shown = new Shown[64];
    MessageBuffer message;
    readonly ByteBuffer input = new ByteBuffer();
    readonly CorrectionBuffer correction = new CorrectionBuffer();

    public Client(ClientOptions options) {
      NativeArchetypes archetypes = Keep(options.Archetypes);
      Library.OfSize(options.Token, ByteCount.TokenBytes, "a token");
      ClientSettings settings = options.Settings;
      settings.Archetypes = archetypes.Pointer;
      settings.ArchetypeCount = archetypes.Count;
      settings.Port = options.Port;
      settings.Insecure = options.Insecure ? 1 : 0;
      settings.Log = KeepLog(options.Log, out settings.LogUser);
      byte* why = stackalloc byte[400];
      IntPtr handle;
      int result;
      fixed (byte* host = Library.Bytes(options.Host)) fixed (byte* token = options.Token)
      fixed (byte* transport = Library.Bytes(options.Transport)) {
        settings.Host = host;
        settings.Transport = transport;
        settings.Token = token;
        result = Native.reckoner_client_create(&settings, &handle, why, (UIntPtr)400);
      }
      Created(result, why);
      Own(handle);
    }

    internal override void Destroy(IntPtr handle) {
      Native.reckoner_client_leave(handle);
      Native.reckoner_client_destroy(handle);
    }

    /// Sets the time of this and all following calls, and handles everything that has arrived. Returns the status. Throws
    /// RefusedException if the server refuses or kicks this client.
    public Status Update(double nowS) {
      Done(Native.reckoner_client_update(C, nowS));
      Status status = Status;
      if (status == Status.Refused) throw new RefusedException(Refusal);
      return status;
    }
    public void Wait(double seconds) => Done(Native.reckoner_client_wait(C, seconds));
    /// Leaves the server for good. Call Update() until it returns Disconnected, for as long as the game is willing to wait, for
    /// example 2 s: the client first sends the reliable messages that the server still lacks. Without such messages, this
    /// takes a round trip. Dispose() does not wait: what the server still lacks is then lost.
    public void Leave() => Done(Native.reckoner_client_leave(C));
    public Status Status => (Status)Native.reckoner_client_status(C);
    public string Refusal => Library.Text(Native.reckoner_client_refusal(C));
    public double LostFor() {
      double seconds;
      Done(Native.reckoner_client_lost_for(C, &seconds));
      return seconds;
    }
    public void SetToken(byte[] token) {
      Library.OfSize(token, ByteCount.TokenBytes, "a token");
      fixed (byte* t = token) Done(Native.reckoner_client_set_token(C, t));
    }
    /// With it the client can join again, once. Null before it has joined.
    public byte[] Ticket() {
      var ticket = new byte[(int)ByteCount.TokenBytes];
      fixed (byte* t = ticket) return Done(Native.reckoner_client_ticket(C, t)) ? ticket : null;
    }
    /// False before the first answer of the server.
    public bool TryServerTime(out double serverTimeS) {
      double time = 0;
      bool known = Done(Native.reckoner_client_server_time(C, &time));
      serverTimeS = time;
      return known;
    }

    public bool PollEvent(out ClientEvent polled) {
      var e = new ClientEvent { StructSize = (uint)sizeof(ClientEvent) };
      bool any = Done(Native.reckoner_client_poll_event(C, &e));
      polled = e;
      return any;
    }
    public bool PollMessage(out Message polled) {
      var m = new NativeMessage { StructSize = (uint)sizeof(NativeMessage) };
      bool any = Done(Native.reckoner_client_poll_message(C, &m));
      polled = any ? message.Read(m) : default;
      return any;
    }
    public void Send(ReadOnlySpan<byte> bytes, Delivery delivery = Delivery.Reliable, double? timeS = null) {
      double time = timeS ?? 0;
      fixed (byte* b = bytes)
        Done(Native.reckoner_client_send(C, b, (UIntPtr)bytes.Length, (int)delivery, timeS.HasValue ? &time : null));
    }

    /// Sends now what waits for the next Update(): messages, changed playout settings and acknowledgements. Call it
    /// after the last Send() before a picture.
    public void Flush() => Done(Native.reckoner_client_flush(C));

    /// The poses of all visible entities, about ten times as fast as Shown().
    public Poses ShownPoses() {
      UIntPtr count;
      double timeS;
      while (true) {
        int result;
        fixed (ulong* e = entities) fixed (Double3* p = positions) fixed (Float4* o = orientations)
          result = Native.reckoner_client_shown_poses_into(C, e, (double*)p, (float*)o, (UIntPtr)entities.Length, &count,
                                                           &timeS);
        if (result != (int)ResultCode.ErrorCapacity) {
          Done(result);
          break;
        }
        int capacity = 2 * (int)count;
        entities = new ulong[capacity];
        positions = new Double3[capacity];
        orientations = new Float4[capacity];
      }
      int n = (int)count;
      return new Poses(new ReadOnlySpan<ulong>(entities, 0, n), new ReadOnlySpan<Double3>(positions, 0, n),
                       new ReadOnlySpan<Float4>(orientations, 0, n), timeS);
    }

    /// All visible entities with velocities, frames and ages. Valid until the next call of Shown().
    public ReadOnlySpan<Shown> Shown() {
      UIntPtr count;
      while (true) {
        int result;
        fixed (Shown* s = shown)
          result = Native.reckoner_client_shown(C, s, (uint)sizeof(Shown), (UIntPtr)shown.Length, &count);
        if (result != (int)ResultCode.ErrorCapacity) {
          Done(result);
          break;
        }
        shown = new Shown[2 * (int)count];
      }
      return new ReadOnlySpan<Shown>(shown, 0, (int)count);
    }
    /// False while the entity is not visible.
    public bool TryShown(ulong entity, out Shown found) {
      var s = new Shown { StructSize = (uint)sizeof(Shown) };
      bool visible = Done(Native.reckoner_client_shown_one(C, entity, &s));
      found = s;
      return visible;
    }

    /// Null if unknown. Allocates a string: keep it.
    public string Name(ulong entity) => Library.Text(Native.reckoner_client_name(C, entity));
    /// What came with Server.SpawnShortLived(). False for other entities.
    public bool TryShortLived(ulong entity, out byte[] data, out double endS) {
      byte* bytes;
      UIntPtr size;
      double end;
      bool found = Done(Native.reckoner_client_short_lived(C, entity, &bytes, &size, &end));
      data = found ? new ReadOnlySpan<byte>(bytes, (int)size).ToArray() : null;
      endS = end;
      return found;
    }
    public Value Field(ulong entity, uint field) {
      Value value;
      Done(Native.reckoner_client_field(C, entity, field, &value));
      return value;
    }
    /// A number of the game, for example the index of the GameObject.
    public void SetUserValue(ulong entity, ulong value) =>
        Done(Native.reckoner_client_set_user_value(C, entity, value));
    public ulong UserValue(ulong entity) {
      ulong value;
      Done(Native.reckoner_client_user_value(C, entity, &value));
      return value;
    }
    /// Replaces the shown state. With anticipatedS above 0 the game anticipates a hit: the entity continues from `state` until a
    /// motion with the hit has arrived, for at most anticipatedS.
    public void Correct(ulong entity, State state, double anticipatedS = 0.0) =>
        Done(Native.reckoner_client_anticipate(C, entity, &state, anticipatedS));
    public void SetPaused(bool paused) =>
        Done(Native.reckoner_client_set_paused(C, paused ? 1 : 0));
    /// The defaults for SetPlayout(), with the blends of a profile.
    public static Playout DefaultPlayout(BlendProfile profile = BlendProfile.Balanced) {
      Library.Require();
      Playout playout;
      Native.reckoner_playout_init(&playout, (uint)sizeof(Playout));
      Library.Check(Native.reckoner_blend_settings((int)profile, &playout.BlendCurve, &playout.BlendS));
      return playout;
    }
    public void SetPlayout(Playout playout) =>
        Done(Native.reckoner_client_set_playout(C, &playout));
    public void SetOrigin(Double3 origin) => Done(Native.reckoner_client_set_origin(C, (double*)&origin));

    // -- The player's own body

    /// The server's states of all predicted entities after one tick, if the game must go back to them. Call it after Update()
    /// and PollEvent(), before TryNextStep(): restore the entities, step the steps of the correction again, and pass the
    /// results to Predict(). What is shown then goes over into the new path without a jump.
    public bool PollCorrection(out Correction polled) {
      var c = new NativeCorrection { StructSize = (uint)sizeof(NativeCorrection) };
      bool any = Done(Native.reckoner_client_poll_correction(C, &c));
      polled = any ? correction.Read(c) : default;
      return any;
    }
    /// The tick that the game must step now; false if none is due. `now`, at most 64 bytes, is what the player does now. Call
    /// it until it returns false: step the predicted entities with step.Input, and pass the results to Predict().
    public bool TryNextStep(ReadOnlySpan<byte> now, out PredictionStep step) {
      NativeStep s;
      bool due;
      fixed (byte* n = now) due = Done(Native.reckoner_client_next_step(C, n, (UIntPtr)now.Length, &s));
      step = default;
      if (!due) return false;
      input.Clear();
      int size = (int)s.InputSize;
      step = new PredictionStep(s.Tick, input.Span(input.Add(s.Input, size), size));
      return true;
    }
    /// What the game has computed for an entity that it predicts: its state after `tick`, a tick of TryNextStep() or of a
    /// correction. gameState: the bytes that the server's game sets with Server.SetGameState(). When each predicted entity
    /// has a state for the newest tick, inputs and results are sent.
    public void Predict(ulong entity, uint tick, State state, ReadOnlySpan<byte> gameState = default) {
      fixed (byte* g = gameState)
        Done(Native.reckoner_client_predict(C, entity, tick, &state, g, (UIntPtr)gameState.Length));
    }

    internal override uint LastError() => Native.reckoner_client_call_error(C);

    // False for refusals that pass by themselves: an event about the entity waits, or there is no clock yet.
    bool Moved(int result) {
      if (result == 0) return true;
      var error = (CallError)LastError();
      return error != CallError.EventNotPolled && error != CallError.NoClock && Done(result);
    }
    /// Sets the state of an owned entity; call it after each Update(). False: poll the entity's event first.
    public bool Move(ulong entity, State state) =>
        Moved(Native.reckoner_client_move(C, entity, &state));
    public bool MoveIn(ulong entity, State state, ulong frame) =>
        Moved(Native.reckoner_client_move_in(C, entity, &state, frame));
    public bool Teleport(ulong entity, State state, ulong frame = 0) =>
        Moved(Native.reckoner_client_teleport(C, entity, &state, frame));
    /// The state from which to continue after Given or Corrected. False if this client does not own the entity.
    public bool TryOwned(ulong entity, out State state) {
      State s = default;
      bool owned = Done(Native.reckoner_client_owned(C, entity, &s));
      state = s;
      return owned;
    }
    /// The motion of an entity at this server time, s, in the world, without blends: its velocity and acceleration
    /// are those of the motion alone. False if the client does not know the motion at that time.
    public bool TryMotionAt(ulong entity, double serverTimeS, out State state) {
      State s = default;
      bool known = Done(Native.reckoner_client_motion_at(C, entity, serverTimeS, &s));
      state = s;
      return known;
    }
    public ulong OwnedFrame(ulong entity) {
      ulong frame;
      Done(Native.reckoner_client_owned_frame(C, entity, &frame));
      return frame;
    }
    /// Shows an entity at once that the server is expected to spawn with the same key. 0: there is no clock yet.
    public ulong PredictSpawn(uint archetype, State state, uint key, double patienceS) {
      ulong entity = 0;
      return Moved(Native.reckoner_client_predict_spawn(C, archetype, &state, key, patienceS, &entity)) ? entity : 0;
    }
    public void DropPrediction(ulong entity) => Done(Native.reckoner_client_drop_prediction(C, entity));

    public bool TryDebug(ulong entity, out ShownDebug debug) {
      var d = new ShownDebug { StructSize = (uint)sizeof(ShownDebug) };
      bool found = Done(Native.reckoner_client_debug(C, entity, &d));
      debug = d;
      return found;
    }
    public ClientStats Stats() {
      var stats = new ClientStats { StructSize = (uint)sizeof(ClientStats) };
      Done(Native.reckoner_client_get_stats(C, &stats));
      return stats;
    }
    public void Refused(uint reason, out ulong payloads, out ulong datagrams) {
      ulong p, d;
      Done(Native.reckoner_client_refused(C, reason, &p, &d));
      payloads = p;
      datagrams = d;
    }
  }
}
