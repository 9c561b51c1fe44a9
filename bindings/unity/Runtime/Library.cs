// SPDX-License-Identifier: MIT
// Errors of the library as exceptions, its version, and texts.
using System;
using System.Text;

namespace Reckoner {
  /// A call failed. The message is the library's text.
  public class ReckonerException : Exception {
    public ResultCode Code { get; }
    public ReckonerException(string message, ResultCode code) : base(message) { Code = code; }
  }

  /// The server does not let this client join, for example because the archetypes differ, or it kicked the client.
  public sealed class RefusedException : ReckonerException {
    public RefusedException(string message) : base(message, ResultCode.ErrorRefused) { }
  }

  public static unsafe class Library {
    static bool required;

    public static string Version => Text(Native.reckoner_version());
    public static uint ProtocolVersion => Native.reckoner_protocol_version();

    /// Checks once that the library is there and new enough. Throws DllNotFoundException, or ReckonerException with the
    /// library's text.
    public static void Require() {
      if (!required) Require(Native.Version);
      required = true;
    }

    public static void Require(string version) {
      byte* why = stackalloc byte[200];
      int result;
      fixed (byte* needed = Bytes(version)) {
        try {
          result = Native.reckoner_check_version(needed, why, (UIntPtr)200);
        } catch (EntryPointNotFoundException missing) {
          throw new ReckonerException($"the Reckoner library is older than {version}: {missing.Message}",
                                      ResultCode.ErrorStruct);
        }
      }
      if (result != 0) throw new ReckonerException(Text(why), (ResultCode)result);
    }

    /// True for Ok, false for Nothing. Throws for errors.
    internal static bool Check(int result, string detail = null) {
      if (result >= 0) return result == 0;
      string text = Text(Native.reckoner_error_text(result));
      throw new ReckonerException(string.IsNullOrEmpty(detail) ? text : text + ": " + detail, (ResultCode)result);
    }

    /// A failed call's exception. `why`: the reason that the call wrote; if that is empty, the text of the result.
    internal static ReckonerException Failed(int result, byte* why) =>
        new ReckonerException(Text(why[0] != 0 ? why : Native.reckoner_error_text(result)), (ResultCode)result);

    internal static string Text(byte* text) {
      if (text == null) return null;
      int length = 0;
      while (text[length] != 0) ++length;
      return Encoding.UTF8.GetString(text, length);
    }

    /// UTF-8 with a 0 at the end; null for null.
    internal static byte[] Bytes(string text) => text == null ? null : Encoding.UTF8.GetBytes(text + "\0");

    internal static void OfSize(byte[] bytes, ByteCount size, string what) {
      if (bytes != null && bytes.Length != (int)size)
        throw new ArgumentException($"{what} has {(int)size} bytes, not {bytes.Length}");
    }

    /// The name of a refusal reason; null after the last one.
    public static string RefusalName(uint reason) => Text(Native.reckoner_refusal_name(reason));
    /// The name of a content (Server.Traffic()) as in metrics, for example "full_motion".
    public static string ContentName(SentContent content) => Text(Native.reckoner_sent_content_name((uint)content));

    internal static string Failure(uint error) => error == 0 ? null : Text(Native.reckoner_call_error_text(error));
  }

  /// Keys, and the tokens with which clients join.
  public static unsafe class Tokens {
    public static byte[] MakeKey() {
      Library.Require();
      var key = new byte[(int)ByteCount.KeyBytes];
      fixed (byte* k = key) Library.Check(Native.reckoner_make_key(k));
      return key;
    }

    public static byte[] KeyFromText(string text) {
      Library.Require();
      var key = new byte[(int)ByteCount.KeyBytes];
      fixed (byte* k = key) fixed (byte* t = Library.Bytes(text)) Library.Check(Native.reckoner_key_from_text(t, k));
      return key;
    }

    public static string KeyToText(byte[] key) {
      Library.OfSize(key, ByteCount.KeyBytes, "a key");
      byte* text = stackalloc byte[65];
      fixed (byte* k = key) Library.Check(Native.reckoner_key_to_text(k, text));
      return Library.Text(text);
    }

    /// A token with which one client can join one of the servers once, within the next seconds.
    public static byte[] Issue(byte[] key, Address[] servers, ulong clientId, double validS = 60, ulong game = 0,
                               byte[] userData = null) {
      Library.Require();
      Library.OfSize(key, ByteCount.KeyBytes, "a key");
      Grant grant;
      Native.reckoner_grant_init(&grant, (uint)sizeof(Grant));
      var token = new byte[(int)ByteCount.TokenBytes];
      fixed (byte* k = key) fixed (byte* t = token) fixed (byte* user = userData) fixed (Address* a = servers) {
        grant.Servers = a;
        grant.ServerCount = (uint)servers.Length;
        grant.ClientId = clientId;
        grant.Game = game;
        grant.ExpiresS = (ulong)(DateTimeOffset.UtcNow.ToUnixTimeSeconds() + (long)validS);
        grant.UserData = user;
        grant.UserDataSize = (uint)(userData?.Length ?? 0);
        Library.Check(Native.reckoner_issue_token(&grant, k, t));
      }
      return token;
    }
  }
}
