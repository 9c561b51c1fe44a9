// SPDX-License-Identifier: MIT
// Archetypes: what server and clients agree on about each kind of entity.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Reckoner {
  /// A value that every entity of an archetype has besides its motion. Spec has the library's defaults.
  public sealed unsafe class Field {
    public readonly string Name;
    public FieldSpec Spec;

    public Field(string name, ValueType type = ValueType.Integer) {
      Library.Require();
      Name = name;
      fixed (FieldSpec* spec = &Spec) Native.reckoner_field_spec_init(spec, (uint)sizeof(FieldSpec));
      Spec.Type = (int)type;
    }
  }

  /// A kind of entity, the same in the same order on the server and on every client. Settings has the library's defaults:
  /// thresholds, top speed, floor, source of velocities.
  public sealed unsafe class Archetype {
    public readonly string Name;
    public readonly List<Field> Fields = new List<Field>();
    public ArchetypeSettings Settings;
    /// The height of the ground at a position. The library calls it for every shown entity, from all threads of a server.
    /// With IL2CPP it must be a static method with [AOT.MonoPInvokeCallback].
    public FloorAt Terrain;

    /// Obstacles, behind which entities are never shown.
    public readonly List<WallBox> Walls = new List<WallBox>();
    /// For obstacles that are no boxes: writes to `reached` the point that an entity reaches if it moves straight from
    /// `from` to `to`. It is called as often as Terrain, and needs the same with IL2CPP.
    public ReachedAt Reach;

    public unsafe delegate double FloorAt(void* user, double* position);
    public unsafe delegate void ReachedAt(void* user, double* from, double* to, double* reached);

    public Archetype(string name = "entity", params Field[] fields) {
      Library.Require();
      Name = name;
      Fields.AddRange(fields);
      fixed (ArchetypeSettings* settings = &Settings)
        Native.reckoner_archetype_init(settings, (uint)sizeof(ArchetypeSettings));
    }

    /// A floor: all points whose coordinate along the unit vector `up` is the height.
    public void SetPlane(Double3 up, double heightM) {
      Settings.Floor = (int)FloorKind.Plane;
      Settings.FloorUp = up;
      Settings.FloorHeightM = heightM;
    }

    /// A wall: a box with these half edges along its own axes.
    public void AddWall(Double3 centre, Double3 halfSize) => AddWall(centre, halfSize, new Float4 { W = 1 });
    public void AddWall(Double3 centre, Double3 halfSize, Float4 orientation) =>
        Walls.Add(new WallBox { Centre = centre, HalfSize = halfSize, Orientation = orientation });

    /// The number of a field, for SetField() and Field(). Look names up once, at the start. ReckonerException if there is
    /// no such field: the message lists the fields, the most similar one first.
    public uint IndexOf(string field) {
      using (var native = new NativeArchetypes(new[] { this })) {
        byte* why = stackalloc byte[WhyBytes];
        uint index;
        int result;
        fixed (byte* name = Library.Bytes(field))
          result = Native.reckoner_find_field(native.Pointer, name, &index, why, (UIntPtr)WhyBytes);
        return result == 0 ? index : throw Library.Failed(result, why);
      }
    }

    /// The number of the archetype with this name, for Spawn(). Look names up once, at the start. ReckonerException if
    /// there is none: the message lists the archetypes, the most similar one first.
    public static uint IndexOf(IList<Archetype> archetypes, string archetype) {
      using (var native = new NativeArchetypes(archetypes)) {
        byte* why = stackalloc byte[WhyBytes];
        uint index;
        int result;
        fixed (byte* name = Library.Bytes(archetype))
          result = Native.reckoner_find_archetype(native.Pointer, native.Count, name, &index, why, (UIntPtr)WhyBytes);
        return result == 0 ? index : throw Library.Failed(result, why);
      }
    }

    const int WhyBytes = 1000;
  }

  /// Archetypes in unmanaged memory, as the C structs refer to them. Kept as long as a client or server.
  internal sealed unsafe class NativeArchetypes : IDisposable {
    readonly List<IntPtr> blocks = new List<IntPtr>();
    readonly List<Delegate> callbacks = new List<Delegate>();
    public readonly ArchetypeSettings* Pointer;
    public readonly uint Count;

    public NativeArchetypes(IList<Archetype> archetypes) {
      Count = (uint)archetypes.Count;
      Pointer = (ArchetypeSettings*)Block(sizeof(ArchetypeSettings) * Math.Max(1, archetypes.Count));
      for (int i = 0; i < archetypes.Count; ++i) Fill(archetypes[i], &Pointer[i]);
    }

    void Fill(Archetype archetype, ArchetypeSettings* to) {
      *to = archetype.Settings;
      to->Name = Text(archetype.Name);
      int count = archetype.Fields.Count;
      var specs = (FieldSpec*)Block(sizeof(FieldSpec) * Math.Max(1, count));
      for (int i = 0; i < count; ++i) {
        specs[i] = archetype.Fields[i].Spec;
        specs[i].Name = Text(archetype.Fields[i].Name);
      }
      to->Fields = count > 0 ? specs : null;
      to->FieldCount = (uint)count;
      if (archetype.Terrain != null) {
        callbacks.Add(archetype.Terrain);
        to->Floor = (int)FloorKind.Terrain;
        to->FloorAt = Marshal.GetFunctionPointerForDelegate(archetype.Terrain);
      }
      var boxes = (WallBox*)Block(sizeof(WallBox) * Math.Max(1, archetype.Walls.Count));
      for (int i = 0; i < archetype.Walls.Count; ++i) boxes[i] = archetype.Walls[i];
      to->WallBoxes = archetype.Walls.Count > 0 ? boxes : null;
      to->WallCount = (uint)archetype.Walls.Count;
      if (archetype.Reach != null) {
        callbacks.Add(archetype.Reach);
        to->WallReach = Marshal.GetFunctionPointerForDelegate(archetype.Reach);
      }
    }

    byte* Text(string text) {
      byte[] bytes = Library.Bytes(text);
      byte* block = Block(bytes.Length);
      Marshal.Copy(bytes, 0, (IntPtr)block, bytes.Length);
      return block;
    }

    byte* Block(int size) {
      IntPtr block = Marshal.AllocHGlobal(size);
      blocks.Add(block);
      return (byte*)block;
    }

    public void Dispose() {
      foreach (IntPtr block in blocks) Marshal.FreeHGlobal(block);
      blocks.Clear();
      GC.KeepAlive(callbacks);
    }
  }
}
