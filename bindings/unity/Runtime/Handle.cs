// SPDX-License-Identifier: MIT
// The handles of the C library, and what must live as long as they do.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Reckoner {
  /// IL2CPP finds this attribute by its name.
  [AttributeUsage(AttributeTargets.Method)]
  internal sealed class MonoPInvokeCallbackAttribute : Attribute {
    public MonoPInvokeCallbackAttribute(Type type) { }
  }

  /// Base of Client and Server. Use it in one thread at a time.
  public abstract unsafe class Handle : IDisposable {
    IntPtr raw;
    NativeArchetypes archetypes;
    GCHandle log;
    static readonly LogFunction onLog = OnLog;

    /// The handle of the C library. Throws ObjectDisposedException after Dispose().
    internal IntPtr C => raw != IntPtr.Zero ? raw : throw new ObjectDisposedException(GetType().Name);

    public bool IsDisposed => raw == IntPtr.Zero;

    protected void Own(IntPtr handle) { raw = handle; }

    private protected NativeArchetypes Keep(IList<Archetype> given) =>
        archetypes = new NativeArchetypes(given ?? new[] { new Archetype() });

    private protected IntPtr KeepLog(Action<LogLevel, string> write, out void* user) {
      user = null;
      if (write == null) return IntPtr.Zero;
      log = GCHandle.Alloc(write);
      user = (void*)GCHandle.ToIntPtr(log);
      return Marshal.GetFunctionPointerForDelegate(onLog);
    }

    [MonoPInvokeCallback(typeof(LogFunction))]
    static void OnLog(void* user, LogRecord* record) {
      try {  // no exception may pass through the library
        var write = (Action<LogLevel, string>)GCHandle.FromIntPtr((IntPtr)user).Target;
        write((LogLevel)record->Level, Library.Text(record->Line));
      } catch (Exception) {
      }
    }

    internal abstract void Destroy(IntPtr handle);

    /// The reckoner_call_error of the last call.
    internal abstract uint LastError();

    private protected bool Done(int result) {
      bool explained = result == (int)ResultCode.ErrorUnknown || result == (int)ResultCode.ErrorRefused;
      bool done = Library.Check(result, explained ? Library.Failure(LastError()) : null);
      GC.KeepAlive(this);  // not finalised during the call
      return done;
    }

    public void Dispose() {
      Close();
      GC.SuppressFinalize(this);
    }

    ~Handle() { Close(); }

    private protected void Close() {
      IntPtr handle = raw;
      raw = IntPtr.Zero;
      if (handle != IntPtr.Zero) Destroy(handle);
      archetypes?.Dispose();
      archetypes = null;
      if (log.IsAllocated) log.Free();
    }

    /// Why the last creation failed, from a buffer.
    private protected void Created(int result, byte* why) {
      if (result == 0) return;
      Close();
      GC.SuppressFinalize(this);
      throw Library.Failed(result, why);
    }
  }

  /// Bytes of the game from the other end. The span is valid until the next PollMessage().
  public readonly ref struct Message {
    public readonly ReadOnlySpan<byte> Bytes;
    public readonly uint Sender;  ///< in a client 0: the server
    public readonly double? TimeS;
    internal Message(ReadOnlySpan<byte> bytes, uint sender, double? timeS) {
      Bytes = bytes;
      Sender = sender;
      TimeS = timeS;
    }
  }

  /// Copies messages into memory of the binding, so that a span never points into memory that the library freed.
  internal unsafe struct MessageBuffer {
    byte[] bytes;
    public Message Read(NativeMessage message) {
      int size = (int)message.Size;
      if (bytes == null || bytes.Length < size) bytes = new byte[Math.Max(1024, 2 * size)];
      if (size > 0) Marshal.Copy((IntPtr)message.Bytes, bytes, 0, size);
      return new Message(new ReadOnlySpan<byte>(bytes, 0, size), message.Sender,
                         message.HasTime != 0 ? message.TimeS : (double?)null);
    }
  }
}
