// SPDX-License-Identifier: MIT
// A game from one end to the other, over sealed connections.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Reckoner.Tests {
  internal static unsafe partial class Program {
    [DllImport("reference", CallingConvention = CallingConvention.Cdecl)]
    static extern int reference_compare(IntPtr client, Shown* shown, int shownCount, ulong* entities,
                                        double* positions, float* orientations, int poseCount);

    static State Circle(int i, double timeS) {
      double angle = timeS * (1 + 0.1 * i);
      State state = State.At(i + 10 * Math.Cos(angle), 10 * Math.Sin(angle), i);
      state.Velocity = new Float3((float)(-10 * Math.Sin(angle)), (float)(10 * Math.Cos(angle)), 0);
      state.Orientation = new Float4(0, 0, (float)Math.Sin(angle / 2), (float)Math.Cos(angle / 2));
      return state;
    }

    static ulong[] Crowd(World world, int count) {
      var ids = new ulong[count];
      for (int i = 0; i < count; ++i) ids[i] = world.Server.Spawn(Circle(i, 0), $"runner {i}");
      world.EachTick = timeS => {
        for (int i = 0; i < ids.Length; ++i) world.Server.Move(ids[i], Circle(i, timeS));
      };
      return ids;
    }

    // Bit for bit what a program in C reads from the same client at the same times, over 2000 frames of sealed traffic.
    static void TestPosesEqualThoseOfTheCClient() {
      using (var world = new World()) {
        Crowd(world, 100);  // more than fit into the arrays at first
        world.Join();
        world.Until(() => world.Client.Shown().Length == 100);
        int compared = 0;
        var moved = new HashSet<double>();
        for (int frame = 0; frame < 2000; ++frame) {
          world.Step();
          ReadOnlySpan<Shown> shown = world.Client.Shown();
          Poses poses = world.Client.ShownPoses();
          fixed (Shown* s = shown) fixed (ulong* e = poses.Entities) fixed (Double3* p = poses.Positions)
          fixed (Float4* o = poses.Orientations) {
            int different = reference_compare(world.Client.C, s, shown.Length, e, (double*)p, (float*)o,
                                              poses.Entities.Length);
            Require(different == 0, $"frame {frame}: {different} entities differ");
          }
          compared += shown.Length;
          moved.Add(shown[0].State.Position.X);
          if (frame % 2 == 0) Thread.Sleep(1);
        }
        Require(compared == 200000 && moved.Count > 100, $"{compared} poses, {moved.Count} positions");
        Require(world.Client.Stats().UpdatesApplied > 100, "updates");

        // The comparison can fail.
        world.Step();
        Shown[] wrong = world.Client.Shown().ToArray();
        Poses right = world.Client.ShownPoses();
        wrong[7].State.Velocity.Y += 1e-5f;
        fixed (Shown* s = wrong) fixed (ulong* e = right.Entities) fixed (Double3* p = right.Positions)
        fixed (Float4* o = right.Orientations)
          Require(reference_compare(world.Client.C, s, wrong.Length, e, (double*)p, (float*)o, 100) == 1, "control");
      }
    }

    static double sum;
    public static byte[] Litter;

    static long Garbage(World world, int frames, bool litters) {
      int collections = GC.CollectionCount(0);
      long before = GC.GetAllocatedBytesForCurrentThread();
      for (int frame = 0; frame < frames; ++frame) {
        world.Step();
        while (world.Client.PollMessage(out Message message)) sum += message.Bytes.Length;
        ReadOnlySpan<Shown> shown = world.Client.Shown();
        for (int i = 0; i < shown.Length; ++i) sum += shown[i].State.Position.X;
        ReadOnlySpan<Double3> positions = world.Client.ShownPoses().Positions;
        for (int i = 0; i < positions.Length; ++i) sum += positions[i].Y;
        if (litters) Litter = new byte[16];
        if (frame % 4 == 0) Thread.Sleep(1);
      }
      return GC.GetAllocatedBytesForCurrentThread() - before + GC.CollectionCount(0) - collections;
    }

    static void TestTenThousandFramesMakeNoGarbage() {
      using (var world = new World()) {
        Crowd(world, 100);
        world.Join();
        world.Until(() => world.Client.Shown().Length == 100);
        Garbage(world, 200, false);  // compiles everything
        Require(Garbage(world, 1000, true) >= 16000, "the measurement does not see garbage");
        long garbage = Garbage(world, 10000, false);
        if (garbage != 0) garbage = Garbage(world, 10000, false);  // the runtime may have compiled a rare path
        Require(garbage == 0, $"{garbage} bytes of garbage");
        Console.WriteLine($"10,000 frames with 100 entities: {garbage} bytes allocated");
      }
    }

    static void TestFieldsMessagesAndIdentity() {
      var kind = new Archetype("tank", new Field("alive", ValueType.Boolean), new Field("health"),
                               new Field("heat", ValueType.Real), new Field("tag", ValueType.Blob));
      kind.Fields[1].Spec.IntegerMost = 100;
      kind.Fields[1].Spec.Initial = Value.Of(100);
      kind.Fields[2].Spec.RealLeast = -50;
      kind.Fields[2].Spec.RealMost = 150;
      kind.Fields[2].Spec.RealStep = 0.5;
      using (var world = new World(null, kind)) {
        ulong tank = world.Server.Spawn(State.At(1, 2, 3), "tänk");
        world.Join();
        world.Until(() => world.Shows(tank));
        Require(world.Client.Name(tank) == "tänk" && world.Client.Name(999) == null, "names");
        Require(world.Client.Field(tank, 1).Integer == 100, "initial");
        world.Server.SetField(tank, kind.IndexOf("alive"), Value.Of(true));
        world.Server.SetField(tank, kind.IndexOf("heat"), Value.Of(20.3));
        world.Server.SetField(tank, kind.IndexOf("tag"), Value.Of("grün"));
        world.Until(() => world.Client.Field(tank, 3).AsText() == "grün");
        Require(world.Client.Field(tank, 0).AsBool && world.Client.Field(tank, 2).Real == 20.5, "values");
        Require(world.Server.Field(tank, 2).Real == 20.5 && world.Had(ClientEventKind.FieldsChanged, tank), "server");
        Throws<ReckonerException>(() => world.Server.SetField(tank, 1, Value.Of(1.5)));
        Throws<ArgumentException>(() => Value.Of(new byte[65]), "64");
        Throws<ReckonerException>(() => kind.IndexOf("heal"), "'heat'");
        var thrown = Throws<ReckonerException>(() => kind.IndexOf(null));
        Require(thrown.Code == ResultCode.ErrorArgument && thrown.Message != "", "text for a null name");
        Require(Archetype.IndexOf(new[] { kind }, "tank") == 0, "archetype");
        ulong all = 0;
        for (var content = SentContent.FullMotion; content <= SentContent.Header; ++content) {
          world.Server.Traffic(content, out _, out ulong bits);
          all += bits;
        }
        Require(all == 8 * world.Server.Stats().StateBytesSent, "traffic");
        Require(Library.ContentName(SentContent.ReliableMessage) == "reliable_message", "name of a content");
        world.Server.FieldTraffic(0, kind.IndexOf("alive"), out ulong values, out ulong valueBits);
        Require(values > 0 && valueBits == values, "field traffic");
        world.Server.ArchetypeTraffic(0, SentContent.Spawn, out _, out ulong spawnBits);
        Require(spawnBits > 0 && world.Server.TrafficOf(tank).SpawnBits == spawnBits, "traffic of an entity");

        world.Server.Send(Encoding.UTF8.GetBytes("hello"), world.Peer);
        string got = null;
        world.Until(() => {
          while (world.Client.PollMessage(out Message m)) got = Encoding.UTF8.GetString(m.Bytes.ToArray()) + m.Sender;
          return got != null;
        });
        Require(got == "hello0", got);
        uint[] team = { world.Peer, 77 };
        world.Server.SetView(world.Peer, new Double3(10, 0, 0));
        var how = Delivery.ReliableUnordered;
        Require(world.Server.Broadcast(new byte[] { 1 }, how) == 1 &&
                world.Server.Broadcast(new byte[] { 9 }, how, null, world.Peer) == 0 &&
                world.Server.Broadcast(team, new byte[] { 2 }, how) == 1 &&
                world.Server.Broadcast(new Double3(0, 0, 0), 11, new byte[] { 3 }, how) == 1 &&
                world.Server.BroadcastSeeing(tank, new byte[] { 4 }, how) == 1, "broadcast");
        int sum = 0, count = 0;
        world.Until(() => {
          for (; world.Client.PollMessage(out Message m); ++count) sum += m.Bytes[0];
          return count == 4;
        });
        Require(sum == 10, "four messages");
        world.Client.TryServerTime(out double timeS);
        world.Client.Send(new byte[] { 9 }, Delivery.Unreliable, timeS);
        world.Client.Flush();
        got = null;
        world.Until(() => {
          while (world.Server.PollMessage(out Message m)) got = $"{m.Bytes[0]} {m.Sender} {m.TimeS.HasValue}";
          return got != null;
        });
        Require(got == $"9 {world.Peer} True", got);
        var data = new byte[256];
        Require(world.Server.TryIdentity(world.Peer, out ulong id, data) && id == 7001 && data[2] == 3, "identity");
        Require(world.Client.Ticket() != null, "ticket");
      }
    }

    static void TestShortLivedAndPredictedSpawns() {
      using (var world = new World()) {
        world.Join();
        State muzzle = State.At(1, 0, 1);
        muzzle.Velocity.X = 50;
        ulong predicted = 0;
        world.Until(() => (predicted = world.Client.PredictSpawn(0, muzzle, 77, 5)) != 0);
        double endS = Now.Seconds + 100;
        ulong shot = world.Server.SpawnShortLived(muzzle, 0, endS, new byte[] { 7, 8 }, world.Peer, 77);
        world.Until(() => world.Had(ClientEventKind.Spawned, shot));
        Require(world.Events.Exists(e => e.Entity == shot && e.Predicted == predicted), "predicted");
        Require(world.Client.TryShortLived(shot, out byte[] data, out double end) && data[1] == 8 &&
                    Math.Abs(end - endS) < 0.01, "data");
        world.Client.SetUserValue(shot, 1UL << 63);
        Require(world.Client.UserValue(shot) == 1UL << 63, "user value");
        ulong refused = world.Client.PredictSpawn(0, muzzle, 78, 60);
        world.Server.RefusePrediction(world.Peer, 78);
        world.Until(() => world.Had(ClientEventKind.PredictionFailed, refused));
        ulong dropped = world.Client.PredictSpawn(0, muzzle, 79, 60);
        world.Client.DropPrediction(dropped);
        Require(!world.Shows(dropped), "dropped");
      }
    }

    static void TestOwnership() {
      using (var world = new World()) {
        ulong avatar = world.Server.Spawn(State.At(0, 0, 0), "avatar");
        world.Join();
        world.Until(() => world.Shows(avatar));
        OwnershipRules rules = Server.DefaultRules();
        rules.MaxTeleportM = 30;
        world.Server.Give(avatar, world.Peer, rules);
        world.Until(() => world.Had(ClientEventKind.Given, avatar));
        Require(world.Server.Owner(avatar) == world.Peer && world.Client.OwnedFrame(avatar) == 0, "owner");
        Require(world.Client.TryServerTime(out double serverS), "server time");
        Require(world.Client.TryMotionAt(avatar, serverS, out State motion) && Math.Abs(motion.Position.X) < 0.1, "motion");
        Require(!world.Client.TryMotionAt(avatar + 1, serverS, out motion), "motion of an unknown entity");
        Require(world.Client.TryOwned(avatar, out State start) && start.Position.X == 0, "start");
        world.Until(() => world.Client.Move(avatar, State.At(0.5, 0, 0)) &&
                          Math.Abs(world.Server.StateOf(avatar).Position.X - 0.5) < 0.1);
        world.Until(() => world.Client.Teleport(avatar, State.At(20, 0, 0)));
        world.Until(() => world.Client.Move(avatar, State.At(20, 0, 0)) &&
                          Math.Abs(world.Server.InWorld(avatar).Position.X - 20) < 0.1);
        Throws<ReckonerException>(() => world.Server.Move(avatar, State.At(0, 0, 0)), "owns");
        Require(world.Server.Revoke(avatar) && !world.Server.Revoke(avatar), "revoke");
        world.Until(() => world.Had(ClientEventKind.Revoked, avatar));
      }
    }

    static void TestNearbyEntitiesFiguresAndKick() {
      using (var world = new World(o => o.Settings.RewindS = 1)) {
        var ids = new ulong[20];
        for (int i = 0; i < 20; ++i) ids[i] = world.Server.Spawn(State.At(10 * i, 0, 0));
        Span<ulong> near = new ulong[2];
        Require(world.Server.EntitiesNear(new Double3(0, 0, 0), 25, near) == 3 && near[1] == ids[1], "near");
        Require(world.Server.Entities(new ulong[100]) == 20, "all");
        world.Server.SetUserValue(ids[3], 11);
        Require(world.Server.UserValue(ids[3]) == 11, "user value");
        uint route = world.Server.AddRoute(new[] { new Double3(0, 0, 0), new Double3(10, 0, 0), new Double3(20, 5, 0) });
        Require(world.Server.RouteLength(route) > 20 && world.Server.RouteState(route, 1).Position.X > 0, "route");
        Throws<ReckonerException>(() => world.Server.AddRoute(new[] { new Double3(0, 0, 0) }));
        world.Join();
        Require(world.Server.Clients(new uint[4]) == 1, "clients");
        world.Until(() => world.Shows(ids[0]));
        Require(world.Server.TrySessionStats(world.Peer, out SessionStats stats) && stats.Connected == 1, "session");
        Require(world.Server.Stats().Entities == 20 && world.Client.Stats().DatagramsReceived > 0, "stats");
        Require(world.Server.TryDebug(ids[0], out EntityDebug debug) && debug.ThresholdM > 0, "debug");
        Require(world.Client.TryDebug(ids[0], out ShownDebug shown) && shown.Entity == ids[0], "shown debug");
        world.Server.Refused(0, out ulong payloads, out ulong datagrams);
        Require(payloads == 0 && datagrams == 0 && Library.RefusalName(0) != null && Library.RefusalName(999) == null, "refused");
        Require(world.Server.RewindStatus(world.Peer, Now.Seconds - 100) == RewindStatus.Unavailable, "rewind");
        world.Server.SetRelevance(ids[5], Relevance.Never);
        world.Until(() => !world.Shows(ids[5]));
        Require(world.Server.KickPlayer(7, "cheating") == 0, "an insecure server knows no players");
        Require(world.Server.Kick(world.Peer, "cheating"), "kick");
        Throws<RefusedException>(() => world.Until(() => false), "kicked by the server: cheating");
        Require(world.Client.Refusal.Contains("cheating") && !world.Server.Kick(world.Peer), "kicked");
      }
    }

    static void TestFloorsPauseAndClock() {
      var kind = new Archetype("body");
      kind.SetPlane(new Double3(0, 0, 1), 1);
      using (var world = new World(null, kind)) {
        State falling = State.At(0, 0, 1);
        falling.Velocity.Z = -1;
        ulong body = world.Server.Spawn(falling);
        world.Join();
        world.Until(() => world.Shows(body));
        double lowest = 9, end = Now.Seconds + 0.3;
        world.Until(() => {
          if (world.Client.TryShown(body, out Shown one)) lowest = Math.Min(lowest, one.State.Position.Z);
          return Now.Seconds > end;
        });
        Require(lowest > 0.97, $"it sank to {lowest}");
        world.Client.SetPaused(true);
        world.Client.SetPaused(false);
        Playout playout = Client.DefaultPlayout(BlendProfile.Gentle);
        Require(playout.BlendCurve == (int)BlendCurve.Damped && playout.BlendS == 0.25, "the gentle profile");
        playout.Mode = (int)Mode.Delayed;
        playout.DelayS = 0.1;
        world.Client.SetPlayout(playout);
        world.Until(() => world.Client.Stats().DelayS > 0.05);
      }
      var car = new Archetype("car");
      car.Settings.Velocity = (int)VelocitySource.Given;
      car.AddWall(new Double3(3, 0, 0), new Double3(1, 5, 5));
      using (var world = new World(null, car)) {
        State driving = State.At(0, 0, 0);
        driving.Velocity.X = 5;
        ulong body = world.Server.SpawnShortLived(driving);
        world.Join();
        world.Until(() => world.Shows(body));
        double furthest = 0, end = Now.Seconds + 0.8;
        world.Until(() => {
          if (world.Client.TryShown(body, out Shown one)) {
            furthest = Math.Max(furthest, one.State.Position.X);
            world.Client.Correct(body, one.State, 0.01);
          }
          return Now.Seconds > end;
        });
        Require(furthest > 1.9 && furthest < 2.01, $"it reached {furthest}");
      }
      var clock = new GameClock(10, 0);
      clock.SetScale(0.5, 20, 0);
      Require(Math.Abs(clock.At(22) - 11) < 1e-9 && clock.ScaleAt(22) == 0.5, "clock");
      State ship = State.At(5, 0, 0), local = State.At(0, 2, 0);
      Require(local.OutOf(ship).Position.X == 5 && local.OutOf(ship).Into(ship).Position.Y == 2, "frames");
    }

    static void TestLogLinesReachCSharp() {
      var lines = new List<string>();
      using (var world = new World(o => { o.Log = (level, line) => lines.Add(line); o.Settings.LogLeast = 0; }))
        world.Join();
      Require(lines.Exists(line => line.Contains("client")), "log");
    }

    // -- Bad input

    static void TestBadSettingsAreNamed() {
      Throws<ReckonerException>(() => new World(o => o.Settings.TickRateHz = -1), "tick_rate_hz");
      Throws<ReckonerException>(() => new Server(new ServerOptions { Host = "127.0.0.1" }));
      Throws<ArgumentException>(() => new Client(new ClientOptions { Host = "127.0.0.1", Token = new byte[5] }), "1024");
      Throws<ReckonerException>(() => Tokens.KeyFromText("xyz"));
      Require(Tokens.KeyToText(Tokens.MakeKey()).Length == 64, "key");
      using (var world = new World()) {
        Throws<ReckonerException>(() => world.Server.Spawn(State.At(double.NaN, 0, 0)), "finite");
        Throws<ReckonerException>(() => world.Server.Move(1234, State.At(0, 0, 0)), "no such entity");
      }
    }

    static void TestOtherArchetypesAreRefused() {
      using (var world = new World())
        Throws<RefusedException>(() => world.Join(world.Options(new Archetype("another"))), "archetype");
    }

    static object Default(Type type) => type.IsValueType ? Activator.CreateInstance(type) : null;

    static void TestEveryCallAfterDisposeThrows() {
      var world = new World();
      world.Join();
      world.Dispose();
      world.Dispose();
      int tried = 0;
      foreach (Handle handle in new Handle[] { world.Client, world.Server }) {
        foreach (MethodInfo method in handle.GetType().GetMethods(BindingFlags.Instance | BindingFlags.Public |
                                                                  BindingFlags.DeclaredOnly)) {
          ParameterInfo[] parameters = method.GetParameters();
          if (method.ReturnType.Name.Contains("Span") || method.ReturnType == typeof(Poses) ||
              method.ReturnType == typeof(PlayerInput)) continue;
          if (Array.Exists(parameters, p => p.ParameterType.FullName.Contains("Span") ||
                                            p.ParameterType.FullName.Contains("Correction") ||
                                            p.ParameterType.FullName.Contains("Message"))) continue;
          object[] arguments = Array.ConvertAll(parameters, p => p.ParameterType == typeof(byte[])
              ? new byte[p.Name == "userData" ? 256 : 1024] : p.ParameterType == typeof(string) ? "x"
              : Default(p.ParameterType.IsByRef ? p.ParameterType.GetElementType() : p.ParameterType));
          try {
            method.Invoke(handle, arguments);
            throw new Exception($"{method.Name} did not throw");
          } catch (TargetInvocationException thrown) {
            Require(thrown.InnerException is ObjectDisposedException, $"{method.Name}: {thrown.InnerException}");
          }
          ++tried;
        }
      }
      Require(tried > 70, $"only {tried} methods");
      Throws<ObjectDisposedException>(() => world.Client.Shown());
      Throws<ObjectDisposedException>(() => world.Client.ShownPoses());
      Throws<ObjectDisposedException>(() => world.Client.PollMessage(out Message _));
      Throws<ObjectDisposedException>(() => world.Client.Send(new byte[1]));
      Throws<ObjectDisposedException>(() => world.Server.Send(new byte[1]));
      Throws<ObjectDisposedException>(() => world.Server.PollMessage(out Message _));
      Throws<ObjectDisposedException>(() => world.Server.Entities(new ulong[1]));
      Throws<ObjectDisposedException>(() => world.Server.EntitiesNear(default, 1, new ulong[1]));
      Throws<ObjectDisposedException>(() => world.Server.Clients(new uint[1]));
      Throws<ObjectDisposedException>(() => world.Server.Rewind(1, 0, new SeenPose[1]));
      Throws<ObjectDisposedException>(() => world.Server.SpawnShortLived(default));
      Throws<ObjectDisposedException>(() => world.Server.AddRoute(new Double3[2]));
      Throws<ObjectDisposedException>(() => world.Server.Input(1));
      Throws<ObjectDisposedException>(() => world.Server.SetGameState(1, new byte[1]));
      Throws<ObjectDisposedException>(() => world.Client.PollCorrection(out Correction _));
      Throws<ObjectDisposedException>(() => world.Client.TryNextStep(new byte[1], out PredictionStep _));
      Throws<ObjectDisposedException>(() => world.Client.Predict(1, 1, default));
    }
  }
}
