// SPDX-License-Identifier: MIT
#include "scenario/trace/encoding.hpp"

#include <cstddef>
#include <cstdint>

namespace reckoner::scenario {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kSearched = 4096;  // bytes at the start of a text in which a format is searched

void append_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6), add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12), add(0x80 | (code >> 6 & 0x3f)), add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18), add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f)), add(0x80 | (code & 0x3f));
  }
}

struct Format {
  std::string_view start;
  std::string_view mend;
};

constexpr Format kFormats[] = {
    {"\x1f\x8b"sv, "this file is compressed with gzip: unpack it first (gunzip)"},
    {"PK\x03\x04"sv, "this is a ZIP file or a workbook (.xlsx, .ods): unpack it, or save the sheet as CSV"},
    {"BZh"sv, "this file is compressed with bzip2: unpack it first (bunzip2)"},
    {"\x28\xb5\x2f\xfd"sv, "this file is compressed with zstd: unpack it first (unzstd)"},
    {"\xfd"
     "7zXZ"sv,
     "this file is compressed with xz: unpack it first (unxz)"},
    {"PAR1"sv, "this is a Parquet file: write it as CSV, for example with pandas.read_parquet().to_csv()"},
    {"\x93NUMPY"sv, "this is a NumPy array: write it as CSV, for example with numpy.savetxt()"},
    {"\x89HDF"sv, "this is an HDF5 or MATLAB file: write it as CSV, for example with MATLAB's writetable()"},
    {"MATLAB"sv, "this is a MATLAB file: write it as CSV, for example with MATLAB's writetable()"},
    {"SQLite format 3"sv, "this is an SQLite database: export the table as CSV (sqlite3 -csv -header)"},
    {"#ROSBAG"sv, "this is a ROS bag: export the topic as CSV (rostopic echo -b FILE -p TOPIC)"},
    {"\x89MCAP"sv, "this is an MCAP recording: export the topic as CSV first"},
    {"ULog"sv, "this is a PX4 log: convert it to CSV first (ulog2csv)"},
    {"HIERARCHY"sv,
     "this is a BVH skeleton, which holds angles of joints: export positions of joints as CSV"},
    {"version https://git-lfs"sv,
     "this is a pointer of Git LFS, not the file: fetch it first (git lfs pull)"},
    {"$GP"sv,
     "these are NMEA sentences: convert them to CSV (gpsbabel -i nmea -f IN -o unicsv -F OUT.csv), and add "
     "--project"},
    {"$GN"sv,
     "these are NMEA sentences: convert them to CSV (gpsbabel -i nmea -f IN -o unicsv -F OUT.csv), and add "
     "--project"},
};

std::string xml_mend(std::string_view start) {
  const auto has = [start](std::string_view part) { return start.find(part) != std::string_view::npos; };
  if (has("<fcd-export"))
    return "this is SUMO's XML: convert it to CSV with SUMO's xml2csv.py, or write CSV with --fcd-output "
           "FILE.csv";
  if (has("<gpx") || has("<kml"))
    return "this is a GPS track in XML: convert it to CSV (gpsbabel -i gpx -f IN -o unicsv -F OUT.csv; -i "
           "kml "
           "for KML), and add --project";
  if (has("<html") || has("<!DOCTYPE html") || has("<!doctype html"))
    return "this is a web page, not a table: download the file itself";
  return "this is XML: write one row per sample as CSV";
}

}  // namespace

std::optional<std::string> utf8_from_utf16(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  bool big = text.starts_with("\xfe\xff"sv);
  const bool marked = big || text.starts_with("\xff\xfe"sv);
  if (!marked) {
    const bool little_zeros = text[0] != 0 && text[1] == 0 && text[2] != 0 && text[3] == 0;
    const bool big_zeros = text[0] == 0 && text[1] != 0 && text[2] == 0 && text[3] != 0;
    if (!little_zeros && !big_zeros) return std::nullopt;
    big = big_zeros;
  }
  const auto unit = [&](std::size_t at) {
    const auto first = static_cast<std::uint8_t>(text[at]);
    const auto second = static_cast<std::uint8_t>(text[at + 1]);
    return static_cast<std::uint32_t>(big ? first << 8 | second : second << 8 | first);
  };
  std::string out;
  out.reserve(text.size() / 2);
  for (std::size_t at = marked ? 2 : 0; at + 1 < text.size(); at += 2) {
    std::uint32_t code = unit(at);
    if (code >= 0xd800 && code < 0xe000) {
      const bool pair = code < 0xdc00 && at + 3 < text.size() && unit(at + 2) >> 10 == 0x37;
      code = pair ? 0x10000 + ((code & 0x3ff) << 10 | (unit(at + 2) & 0x3ff)) : 0xfffd;
      if (pair) at += 2;
    }
    append_utf8(out, code);
  }
  return out;
}

std::optional<std::string> find_other_format(std::string_view text) {
  for (const Format& format : kFormats) {
    if (text.starts_with(format.start)) return std::string(format.mend);
  }
  const std::string_view start = text.substr(0, kSearched);
  const std::size_t first = start.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first != std::string_view::npos) {
    const char c = start[first];
    if (c == '<') return xml_mend(start);
    if (c == '{' || c == '[') {
      // A heading such as "[s] ..." is no JSON.
      const std::size_t next = start.find_first_not_of(" \t\r\n", first + 1);
      const bool json = next == std::string_view::npos ||
                        std::string_view("\"{[]}-0123456789").find(start[next]) != std::string_view::npos;
      if (json)
        return "this is JSON: write one row per sample as CSV, for example with "
               "pandas.read_json().to_csv(index=False)";
    }
  }
  if (start.find('\0') != std::string_view::npos) {
    return "this is a binary file: export it as CSV with the program that wrote it";
  }
  return std::nullopt;
}

}  // namespace reckoner::scenario
