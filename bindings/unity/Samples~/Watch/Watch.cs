// SPDX-License-Identifier: MIT
// Moves a GameObject for each entity of a server. Put it on an empty GameObject and give it a prefab.
using System.Collections.Generic;
using Reckoner;
using UnityEngine;

public sealed class Watch : MonoBehaviour {
  public string host = "127.0.0.1";
  public ushort port = 26000;
  public GameObject prefab;

  Client client;
  readonly Dictionary<ulong, Transform> shown = new Dictionary<ulong, Transform>();

  void OnEnable() {
    client = new Client(new ClientOptions { Host = host, Port = port, Insecure = true });
  }

  void OnDisable() {
    client.Dispose();
    foreach (Transform one in shown.Values) Destroy(one.gameObject);
    shown.Clear();
  }

  void Update() {
    double now = Time.realtimeSinceStartupAsDouble;
    try {
      client.Update(now);
    } catch (RefusedException refused) {
      Debug.LogError(refused.Message);
      enabled = false;
      return;
    }
    while (client.PollEvent(out ClientEvent e)) Handle(e);
    Poses poses = client.ShownPoses();
    for (int i = 0; i < poses.Entities.Length; ++i) {
      if (shown.TryGetValue(poses.Entities[i], out Transform one))
        one.SetPositionAndRotation(ToUnity(poses.Positions[i]), ToUnity(poses.Orientations[i]));
    }
  }

  void Handle(ClientEvent e) {
    if (e.What == ClientEventKind.Spawned) {
      Transform one = Instantiate(prefab, transform).transform;
      one.name = client.Name(e.Entity);
      shown[e.Entity] = one;
    } else if (e.What == ClientEventKind.Despawned && shown.TryGetValue(e.Entity, out Transform gone)) {
      shown.Remove(e.Entity);
      Destroy(gone.gameObject);
    }
  }

  // Reckoner: right-handed, z up. Unity: left-handed, y up. Swapping y and z converts one into the other; a rotation
  // changes its sense.
  static Vector3 ToUnity(Double3 p) => new Vector3((float)p.X, (float)p.Z, (float)p.Y);
  static Quaternion ToUnity(Float4 q) => new Quaternion(-q.X, -q.Z, -q.Y, q.W);
}
