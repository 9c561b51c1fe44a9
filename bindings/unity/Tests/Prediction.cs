// SPDX-License-Identifier: MIT
// A player's own body: the client's game steps it at once, and the server's game decides.
using System;
using System.Collections.Generic;
using System.Threading;

namespace Reckoner.Tests {
  internal static unsafe partial class Program {
    const double TickS = 1.0 / 60;

    // A car that accelerates while a key is held. Its step is deterministic.
    struct Car {
      public double X, Speed;

      public Car Stepped(ReadOnlySpan<byte> input) {
        bool pressed = input.Length > 0 && input[0] != 0;
        double speed = Math.Max(0, Math.Min(20, Speed + (pressed ? 12 : -4) * TickS));
        return new Car { X = X + speed * TickS, Speed = speed };
      }
      public State State {
        get {
          State state = State.At(X, 0, 0);
          state.Velocity.X = (float)Speed;
          return state;
        }
      }
      public void Save(Span<byte> bytes) {
        fixed (byte* b = bytes) *(double*)b = Speed;
      }
      public static Car Restored(CorrectedEntity entity) {
        fixed (byte* b = entity.GameState) return new Car { X = entity.State.Position.X, Speed = *(double*)b };
      }
    }

    // A server whose game steps one car for the client, and the client's game that predicts it.
    sealed class Drive : IDisposable {
      public readonly World World;
      public readonly ulong Entity;
      public readonly Dictionary<uint, double> Path = new Dictionary<uint, double>(10000);  // the server's, by tick
      public readonly Dictionary<uint, double> Results = new Dictionary<uint, double>(10000);
      public readonly int[] Corrections = new int[4];
      readonly byte[] bytes = new byte[8], keys = new byte[1];
      readonly double epochS;
      public Car Truth, Own;
      public bool IsMine;
      public double PushM, SeenS;
      public int Replayed, Polled;
      public uint LastTick;

      public Drive() {
        double epoch = 0;
        World = new World(o => epoch = o.Settings.EpochS);
        epochS = epoch;
        Entity = World.Server.Spawn(Truth.State, "car");
        World.EachTick = ServerStep;
        World.Join();
        World.Server.LetPredict(Entity, World.Peer);
      }
      void ServerStep(double timeS) {
        PlayerInput input = World.Server.Input(World.Peer);
        SeenS = input.SeenS;
        Truth = Truth.Stepped(input.Bytes);
        Truth.X += PushM;
        PushM = 0;
        World.Server.Move(Entity, Truth.State);
        Truth.Save(bytes);
        World.Server.SetGameState(Entity, bytes);
        Path[(uint)Math.Round((timeS - epochS) / TickS)] = Truth.X;
      }
      public void ClientStep(double now) {
        for (; Polled < World.Events.Count; ++Polled) {
          if (World.Events[Polled].What == ClientEventKind.PredictionBegan) IsMine = true;
          if (World.Events[Polled].What == ClientEventKind.PredictionEnded) IsMine = false;
        }
        Client client = World.Client;
        if (client.PollCorrection(out Correction correction)) {
          ++Corrections[(int)correction.Reason];
          for (int i = 0; i < correction.EntityCount; ++i) Own = Car.Restored(correction.Entity(i));
          for (int i = 0; i < correction.StepCount; ++i, ++Replayed) Predict(correction.Step(i));
        }
        keys[0] = (byte)(now % 1 < 0.6 ? 1 : 0);
        while (client.TryNextStep(keys, out PredictionStep step)) {
          LastTick = step.Tick;
          if (IsMine) Predict(step);
        }
      }
      void Predict(PredictionStep step) {
        Own = Own.Stepped(step.Input);
        Own.Save(bytes);
        World.Client.Predict(Entity, step.Tick, Own.State, bytes);
        Results[step.Tick] = Own.X;
      }
      public double Until(Func<bool> so) => World.Until(() => {
        ClientStep(Now.Seconds);
        return so();
      });
      /// True after a push that was corrected and replayed. Pushes until then.
      public bool IsPushed() {
        if (Corrections[(int)CorrectionReason.Differs] > 0 && Replayed > replayedBefore) return true;
        if (Now.Seconds < nextPushS) return false;
        nextPushS = Now.Seconds + 0.5;
        replayedBefore = Replayed;
        PushM = 3;
        return false;
      }
      double nextPushS;
      int replayedBefore;
      public PredictionStats Stats() {
        Require(World.Server.TryPredictionStats(World.Peer, out PredictionStats stats), "prediction stats");
        return stats;
      }
      public void Dispose() => World.Dispose();
    }

    static void TestThePlayersOwnCarIsPredicted() {
      using (var drive = new Drive()) {
        double end = Now.Seconds + 1.5;
        drive.Until(() => Now.Seconds > end && drive.Own.Speed > 1);
        Require(drive.Corrections[(int)CorrectionReason.Begins] >= 1, "the first correction");
        uint from = drive.LastTick + 60;
        drive.Until(() => drive.LastTick >= from && drive.Path.ContainsKey(from) && drive.Stats().Results > 60);
        PredictionStats stats = drive.Stats();
        Require(stats.Ticks > 60 && drive.SeenS > 0, "inputs");
        // The machine may be busy.
        if (stats.TicksRepeated == 0) Require(drive.Results[from] == drive.Path[from], "both ends compute the same");
        drive.Until(drive.IsPushed);
        ClientStats figures = drive.World.Client.Stats();
        Require(drive.Replayed > 0 && figures.Mispredictions >= 2 && figures.InputLeadS != 0, "replay");
        Require(drive.World.Client.TryShown(drive.Entity, out Shown _), "shown");
        Require(drive.World.Client.TryDebug(drive.Entity, out ShownDebug why) && why.Predicted == 1, "debug");
        Require(why.Corrected == 1 && why.PredictionNewest == drive.LastTick && why.PredictionTicks > 60, "prediction");
        Require(why.PredictionCorrections == figures.Mispredictions, "corrections");

        Server server = drive.World.Server;
        Client client = drive.World.Client;
        ulong entity = drive.Entity;
        uint peer = drive.World.Peer, last = drive.LastTick;
        State state = drive.Own.State;
        PredictionRules rules = Server.DefaultPredictionRules();
        Require(rules.PositionM == 0.01 && rules.AngleRad == 0.01, "default rules");
        rules.PositionM = 0;
        Throws<ReckonerException>(() => server.LetPredict(entity, peer, rules), "range");
        Throws<ReckonerException>(() => server.SetGameState(entity, new byte[129]), "too long");
        Throws<ReckonerException>(() => server.Give(entity, peer), "predicts");
        Throws<ReckonerException>(() => client.Predict(entity, last + 1000, state), "has not stepped");
        Throws<ReckonerException>(() => client.TryNextStep(new byte[65], out PredictionStep none));
        Require(server.Input(99).Bytes.Length == 0 && !server.TryPredictionStats(99, out stats), "unknown");
        server.StopPrediction(entity, peer);
        drive.Until(() => !drive.IsMine);
        Throws<ReckonerException>(() => client.Predict(entity, drive.LastTick, state), "does not predict");
      }
    }

    static long PredictingGarbage(Drive drive, int pictures) {
      long before = GC.GetAllocatedBytesForCurrentThread();
      for (int i = 0; i < pictures; ++i) {
        if (i % 500 == 250) drive.PushM = 1;
        drive.ClientStep(drive.World.Step());
        if (i % 4 == 0) Thread.Sleep(1);
      }
      return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    static void TestPredictingAllocatesNothing() {
      using (var drive = new Drive()) {
        double end = Now.Seconds + 2;
        drive.Until(() => Now.Seconds > end && drive.IsMine);
        drive.Until(drive.IsPushed);  // compiles the replay
        int before = drive.Results.Count;
        long garbage = PredictingGarbage(drive, 2000);
        if (garbage != 0) garbage = PredictingGarbage(drive, 2000);  // the runtime may have compiled a rare path
        Require(garbage == 0, $"{garbage} bytes of garbage");
        Require(drive.Results.Count > before + 20, "steps");
      }
    }
  }
}
