// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.Threading;

namespace Reckoner.Tests {
  /// A server and a client in one thread, over loopback and sealed, in real time.
  internal sealed class World : IDisposable {
    public readonly byte[] Key = Tokens.MakeKey();
    public readonly Server Server;
    public readonly List<Archetype> Archetypes;
    public Client Client;
    public uint Peer;
    public readonly List<ClientEvent> Events = new List<ClientEvent>();
    public Action<double> EachTick = _ => { };

    public World(Action<ServerOptions> change = null, params Archetype[] archetypes) {
      Archetypes = new List<Archetype>(archetypes.Length > 0 ? archetypes : new[] { new Archetype() });
      var options = new ServerOptions { Host = "127.0.0.1", Key = Key, Archetypes = Archetypes };
      change?.Invoke(options);
      Server = new Server(options);
    }

    public ClientOptions Options(params Archetype[] archetypes) => new ClientOptions {
      Host = "127.0.0.1", Port = Server.Port, Archetypes = archetypes.Length > 0 ? archetypes : Archetypes.ToArray(),
      Token = Tokens.Issue(Key, new[] { Address.Of(127, 0, 0, 1, Server.Port) }, 7001, 60, 0, new byte[] { 1, 2, 3 }) };

    public void Join(ClientOptions options = null) {
      Client = new Client(options ?? Options());
      Until(() => Client.Status == Status.Joined && Peer != 0 && Client.TryServerTime(out double _));
    }

    /// Allocates nothing while no event arrives.
    public double Step() {
      double now = Now.Seconds;
      Server.Receive(now);
      while (Server.PollEvent(out ServerEvent e))
        if (e.Kind == ServerEventKind.ClientJoined) Peer = e.Client;
      while (Server.IsDue(now, out double tickS)) {
        EachTick(tickS);
        Server.Tick(now);
      }
      if (Client == null) return now;
      Client.Update(now);
      while (Client.PollEvent(out ClientEvent happened)) Events.Add(happened);
      return now;
    }

    public double Until(Func<bool> so) {
      for (double end = Now.Seconds + 20; Now.Seconds < end; Thread.Sleep(2)) {  // generous: the machine may be busy
        double now = Step();
        if (so()) return now;
      }
      throw new Exception("it did not become true in 20 s");
    }

    public bool Had(ClientEventKind kind, ulong entity) => Events.Exists(e => e.What == kind && e.Entity == entity);
    public bool Shows(ulong entity) => Client.TryShown(entity, out Shown _);

    public void Dispose() {
      Client?.Dispose();
      Server.Dispose();
    }
  }
}
