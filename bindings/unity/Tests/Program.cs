// SPDX-License-Identifier: MIT
// The tests of the engine-neutral part, as a program without a test framework, for Mono, .NET and Unity's players.
//
//   mono Reckoner.Tests.exe LAYOUTS RUNTIME OLD      LAYOUTS: the output of bindings_layouts; RUNTIME: this package's
//                                                    Runtime folder; OLD: a folder with a library that is too old
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;

namespace Reckoner.Tests {
  internal static partial class Program {
    static string layouts, runtime, old;

    static int Main(string[] arguments) {
      if (arguments.Length == 1 && arguments[0] == "--load") return Load();
      layouts = File.ReadAllText(arguments[0]);
      runtime = arguments[1];
      old = arguments[2];
      int passed = 0, failed = 0;
      foreach (MethodInfo test in typeof(Program).GetMethods(BindingFlags.Static | BindingFlags.NonPublic)) {
        if (!test.Name.StartsWith("Test")) continue;
        try {
          test.Invoke(null, null);
          ++passed;
        } catch (TargetInvocationException thrown) {
          ++failed;
          Console.WriteLine($"{test.Name}: {thrown.InnerException}");
        }
      }
      Console.WriteLine($"C#: {passed} passed, {failed} failed");
      return failed == 0 ? 0 : 1;
    }

    static int Load() {
      try {
        Console.WriteLine(Library.Version);
        Library.Require();
        return 0;
      } catch (Exception thrown) {
        Console.WriteLine($"caught {thrown.GetType().Name}: {thrown.Message}");
        return 3;
      }
    }

    internal static void Require(bool so, string what) {
      if (!so) throw new Exception(what);
    }

    internal static T Throws<T>(Action call, string text = "") where T : Exception {
      try {
        call();
      } catch (T thrown) {
        Require(thrown.Message.Contains(text), $"\"{thrown.Message}\" does not contain \"{text}\"");
        return thrown;
      }
      throw new Exception($"no {typeof(T).Name}");
    }

    // -- Declarations

    static int SizeOf(Type type) => type.IsPointer ? IntPtr.Size : Marshal.SizeOf(type);

    static void TestSizesAndOffsetsAreThoseOfC() {
      int lines = 0;
      foreach (string line in layouts.Split(new[] { '\n' }, StringSplitOptions.RemoveEmptyEntries)) {
        string[] words = line.Split(' ');
        string[] name = words[0].Split('.');
        Type type = Layouts.Types[name[0]];
        if (name.Length == 1) {
          Require(Marshal.SizeOf(type) == int.Parse(words[1]), line);
          Require(type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic).Length ==
                      Regex.Matches(layouts, $"(?m)^{name[0]}\\.").Count, line);
        } else {
          FieldInfo field = type.GetField(Layouts.Members[words[0]],
                                          BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic);
          Require((int)Marshal.OffsetOf(type, field.Name) == int.Parse(words[1]), line);
          Require(SizeOf(field.FieldType) == int.Parse(words[2]), line);
        }
        ++lines;
      }
      Require(lines > 300, "layouts");
    }

    static void TestEveryFunctionIsUsed() {
      string source = string.Concat(Directory.GetFiles(runtime, "*.cs").Where(f => !f.EndsWith("Generated.cs"))
                                        .Select(File.ReadAllText));
      var unused = new List<string>();
      foreach (MethodInfo method in typeof(Native).GetMethods(BindingFlags.Static | BindingFlags.NonPublic)) {
        if (!Regex.IsMatch(source, $@"Native\.{method.Name}\(")) unused.Add(method.Name);
      }
      unused.Sort();
      // An anticipation of 0 s is none; shown_poses_into replaces the second; an allocator in C# makes no sense.
      Require(string.Join(" ", unused) ==
                  "reckoner_client_correct reckoner_client_shown_poses reckoner_set_allocator",
              string.Join(" ", unused));
    }

    // -- Libraries that do not fit

    static string LoadWith(string folder) {
      var start = new ProcessStartInfo("mono", $"\"{typeof(Program).Assembly.Location}\" --load") {
        UseShellExecute = false, RedirectStandardOutput = true };
      start.EnvironmentVariables["LD_LIBRARY_PATH"] = folder;
      using (Process process = Process.Start(start)) {
        string printed = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return printed;
      }
    }

    static void TestAMissingLibraryIsAnException() {
      string printed = LoadWith("/nowhere");
      Require(printed.Contains("caught DllNotFoundException") && printed.Contains("reckoner"), printed);
    }

    static void TestAnOldLibraryIsAnException() {
      string printed = LoadWith(old);
      Require(printed.Contains("0.0.9") && printed.Contains("caught ReckonerException: the Reckoner library is older than"),
              printed);
    }

    static void TestALibraryThatIsTooOldIsNamedByItsOwnText() {
      var thrown = Throws<ReckonerException>(() => Library.Require("99.0.0"),
                                             "the program needs version 99.0.0 of the Reckoner library, this is 0.2.0");
      Require(thrown.Code == ResultCode.ErrorStruct, "code");
    }
  }
}
