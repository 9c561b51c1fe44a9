// SPDX-License-Identifier: MIT
// Plain values. The layouts are those of the arrays in reckoner.h.
using System;
using System.Diagnostics;
using System.Text;

namespace Reckoner {
  public struct Double2 {
    public double X, Y;
  }

  public struct Double3 {
    public double X, Y, Z;
    public Double3(double x, double y, double z) { X = x; Y = y; Z = z; }
    public override string ToString() => $"({X}, {Y}, {Z})";
  }

  public struct Double4 {
    public double X, Y, Z, W;
  }

  public struct Float3 {
    public float X, Y, Z;
    public Float3(float x, float y, float z) { X = x; Y = y; Z = z; }
    public override string ToString() => $"({X}, {Y}, {Z})";
  }

  /// A quaternion that rotates from the body to the world.
  public struct Float4 {
    public float X, Y, Z, W;
    public Float4(float x, float y, float z, float w) { X = x; Y = y; Z = z; W = w; }
    public override string ToString() => $"({X}, {Y}, {Z}, {W})";
  }

  public unsafe partial struct State {
    /// At rest, with the identity orientation.
    public static State At(double x, double y, double z) {
      State state;
      Library.Require();
      Native.reckoner_state_init(&state);
      state.Position = new Double3(x, y, z);
      return state;
    }

    /// From the coordinates of a moving frame into those of the frame's own state, and back.
    public State OutOf(State frame) {
      State local = this, outer;
      Native.reckoner_out_of_frame(&frame, &local, &outer);
      return outer;
    }
    public State Into(State frame) {
      State outer = this, local;
      Native.reckoner_into_frame(&frame, &outer, &local);
      return local;
    }
  }

  /// The value of a user field.
  public unsafe partial struct Value {
    public static Value Of(bool value) => new Value { Type = (int)ValueType.Boolean, Integer = value ? 1 : 0 };
    public static Value Of(long value) => new Value { Type = (int)ValueType.Integer, Integer = value };
    public static Value Of(double value) => new Value { Type = (int)ValueType.Real, Real = value };
    public static Value Of(string text) => Of(Encoding.UTF8.GetBytes(text));
    public static Value Of(ReadOnlySpan<byte> blob) {
      if (blob.Length > 64) throw new ArgumentException("a blob has at most 64 bytes");
      var value = new Value { Type = (int)ValueType.Blob, BlobSize = (uint)blob.Length };
      for (int i = 0; i < blob.Length; ++i) value.Blob[i] = blob[i];
      return value;
    }
    public bool AsBool => Integer != 0;
    public byte[] AsBytes() {
      var bytes = new byte[BlobSize];
      Value copy = this;
      for (int i = 0; i < bytes.Length; ++i) bytes[i] = copy.Blob[i];
      return bytes;
    }
    public string AsText() => Encoding.UTF8.GetString(AsBytes());
  }

  public partial struct ClientEvent {
    public ClientEventKind What => (ClientEventKind)Kind;
  }

  public partial struct Address {
    /// 127.0.0.1 is Of(127, 0, 0, 1, port).
    public static Address Of(byte a, byte b, byte c, byte d, ushort port) =>
        new Address { Host = (uint)(a << 24 | b << 16 | c << 8 | d), Port = port };
  }

  /// Seconds since the program started: the usual time for all calls.
  public static class Now {
    static readonly Stopwatch watch = Stopwatch.StartNew();
    public static double Seconds => watch.ElapsedTicks / (double)Stopwatch.Frequency;
  }

  /// Game time as a function of real time, for slow motion and pauses.
  public sealed unsafe class GameClock {
    Clock clock;
    public GameClock(double realS, double gameS) {
      Library.Require();
      fixed (Clock* c = &clock) Native.reckoner_clock_init(c, realS, gameS);
    }
    public void SetScale(double scale, double realS, double easeS) {
      fixed (Clock* c = &clock) Library.Check(Native.reckoner_clock_set_scale(c, scale, realS, easeS));
    }
    public double At(double realS) { fixed (Clock* c = &clock) return Native.reckoner_clock_at(c, realS); }
    public double ScaleAt(double realS) { fixed (Clock* c = &clock) return Native.reckoner_clock_scale_at(c, realS); }
    public double RealTimeOf(double gameS) {
      fixed (Clock* c = &clock) return Native.reckoner_clock_real_time_of(c, gameS);
    }
  }
}
