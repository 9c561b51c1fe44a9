// SPDX-License-Identifier: MIT
// The player's own body: inputs, steps and corrections.
using System;
using System.Runtime.InteropServices;

namespace Reckoner {
  /// What a player does in a tick (Server.Input()). The span is valid until the next Input() of the server.
  public readonly ref struct PlayerInput {
    /// Empty if there is no input, or none for longer than RepeatInputS: let the player do nothing.
    public readonly ReadOnlySpan<byte> Bytes;
    /// 0: the input of this tick. Otherwise this input is missing, and Bytes is an earlier one, which is used for this many
    /// ticks more than the player has sent it for.
    public readonly uint Repeated;
    public readonly double SeenS;  ///< server time of the others that the player saw, for TryPoseSeenBy(); 0: no input yet
    internal PlayerInput(ReadOnlySpan<byte> bytes, uint repeated, double seenS) {
      Bytes = bytes;
      Repeated = repeated;
      SeenS = seenS;
    }
  }

  /// A tick that the game steps. The span is valid until the next step or correction of the client.
  public readonly ref struct PredictionStep {
    public readonly uint Tick;                 ///< the server's tick
    public readonly ReadOnlySpan<byte> Input;  ///< what the player does in this tick
    internal PredictionStep(uint tick, ReadOnlySpan<byte> input) {
      Tick = tick;
      Input = input;
    }
  }

  /// The exact state of a predicted entity, as the server has it. The span is valid until the next correction.
  public readonly ref struct CorrectedEntity {
    public readonly ulong Entity;
    public readonly State State;
    public readonly ReadOnlySpan<byte> GameState;  ///< the bytes of Server.SetGameState()
    internal CorrectedEntity(ulong entity, State state, ReadOnlySpan<byte> gameState) {
      Entity = entity;
      State = state;
      GameState = gameState;
    }
  }

  /// What the server says happened. Valid until the next correction of the client.
  public readonly ref struct Correction {
    readonly CorrectionBuffer buffer;
    internal Correction(CorrectionBuffer buffer) { this.buffer = buffer; }

    public uint Tick => buffer.Tick;  ///< the states are those after this tick
    public CorrectionReason Reason => buffer.Reason;
    public int EntityCount => buffer.EntityCount;  ///< every entity that the client predicts
    public int StepCount => buffer.StepCount;      ///< the ticks since, oldest first: step them again
    public CorrectedEntity Entity(int index) => buffer.Entity(index);
    public PredictionStep Step(int index) => buffer.Step(index);
  }

  /// Bytes in memory of the binding, so that a span never points into memory that the library freed.
  internal sealed unsafe class ByteBuffer {
    byte[] bytes = new byte[256];
    int used;

    public void Clear() { used = 0; }
    /// Returns where the copy begins.
    public int Add(byte* from, int size) {
      if (used + size > bytes.Length) Array.Resize(ref bytes, 2 * (used + size));
      if (size > 0) Marshal.Copy((IntPtr)from, bytes, used, size);
      used += size;
      return used - size;
    }
    public ReadOnlySpan<byte> Span(int begin, int size) => new ReadOnlySpan<byte>(bytes, begin, size);
  }

  /// A copy of the last correction.
  internal sealed unsafe class CorrectionBuffer {
    struct Place {
      public int Begin, Size;
    }
    readonly ByteBuffer bytes = new ByteBuffer();
    ulong[] entities = new ulong[8];
    State[] states = new State[8];
    uint[] ticks = new uint[64];
    Place[] gameStates = new Place[8], inputs = new Place[64];

    public uint Tick { get; private set; }
    public CorrectionReason Reason { get; private set; }
    public int EntityCount { get; private set; }
    public int StepCount { get; private set; }

    public Correction Read(NativeCorrection correction) {
      Tick = correction.Tick;
      Reason = (CorrectionReason)correction.Reason;
      EntityCount = (int)correction.EntityCount;
      StepCount = (int)correction.StepCount;
      bytes.Clear();
      Grow(ref entities, EntityCount);
      Grow(ref states, EntityCount);
      Grow(ref gameStates, EntityCount);
      Grow(ref ticks, StepCount);
      Grow(ref inputs, StepCount);
      for (int i = 0; i < EntityCount; ++i) {
        NativeCorrectedEntity* one = correction.Entities + i;
        entities[i] = one->Entity;
        states[i] = one->State;
        gameStates[i] = Copy(one->GameState, (int)one->GameStateSize);
      }
      for (int i = 0; i < StepCount; ++i) {
        NativeStep* one = correction.Steps + i;
        ticks[i] = one->Tick;
        inputs[i] = Copy(one->Input, (int)one->InputSize);
      }
      return new Correction(this);
    }
    public CorrectedEntity Entity(int index) {
      if ((uint)index >= (uint)EntityCount) throw new ArgumentOutOfRangeException(nameof(index));
      return new CorrectedEntity(entities[index], states[index], bytes.Span(gameStates[index].Begin, gameStates[index].Size));
    }
    public PredictionStep Step(int index) {
      if ((uint)index >= (uint)StepCount) throw new ArgumentOutOfRangeException(nameof(index));
      return new PredictionStep(ticks[index], bytes.Span(inputs[index].Begin, inputs[index].Size));
    }

    Place Copy(byte* from, int size) => new Place { Begin = bytes.Add(from, size), Size = size };
    static void Grow<T>(ref T[] array, int count) {
      if (array.Length < count) array = new T[2 * count];
    }
  }
}
