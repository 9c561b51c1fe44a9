// SPDX-License-Identifier: MIT
#include "tests/scenario/foreign_files.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <functional>

namespace reckoner::scenario::test {

glm::dvec3 motion_at(double time_s, int k) {
  return {2.0 + 1.5 * time_s, 4.0 * std::sin(0.7 * time_s) + 3.0 * k, 1.0 + 0.3 * std::cos(time_s)};
}

double motion_yaw(double time_s) {
  return 0.5 + 0.2 * time_s;
}

namespace {

constexpr double kDegrees = 57.29577951308232;
constexpr double kEpochS = 1'714'564'800.0;  // 2024-05-01 12:00:00

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
std::string
text(const char* format, ...) {
  char buffer[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

// What a row needs: its number, time, position, yaw and quaternion about z.
struct Sample {
  int i;
  double t, x, y, z, yaw, qw, qz;
};

Sample sample(int i, double rate_hz, int k = 0) {
  const double t = i / rate_hz;
  const glm::dvec3 p = motion_at(t, k);
  const double yaw = motion_yaw(t);
  return {i, t, p.x, p.y, p.z, yaw, std::cos(yaw / 2.0), std::sin(yaw / 2.0)};
}

using Row = std::function<std::string(const Sample&)>;

std::string rows(const std::string& head, const Row& row, double rate_hz = 20.0) {
  std::string all = head;
  for (int i = 0; i < kForeignRows; ++i)
    all += row(sample(i, rate_hz)) + "\n";
  return all;
}

// Rows of two entities in turn.
using EntityRow = std::function<std::string(const Sample&, int)>;
std::string two(const std::string& head, const EntityRow& row, double rate_hz = 20.0) {
  std::string all = head;
  for (int i = 0; i < kForeignRows; ++i) {
    for (int k = 0; k < 2; ++k)
      all += row(sample(i, rate_hz, k), k) + "\n";
  }
  return all;
}

// All rows of one entity, then all of the other.
std::string two_after_another(const std::string& head, const EntityRow& row, double rate_hz = 20.0) {
  std::string all = head;
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < kForeignRows; ++i)
      all += row(sample(i, rate_hz, k), k) + "\n";
  }
  return all;
}

std::string txyz(const Sample& s, const char* separator = ",") {
  return text("%.3f%s%.4f%s%.4f%s%.4f", s.t, separator, s.x, separator, s.y, separator, s.z);
}

std::string replaced(std::string all, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = all.find(from, at)) != std::string::npos; at += to.size())
    all.replace(at, from.size(), to);
  return all;
}

std::string utf16(const std::string& ascii, bool big) {
  std::string out = big ? "\xfe\xff" : "\xff\xfe";
  for (const char c : ascii) {
    if (big) out += '\0';
    out += c;
    if (!big) out += '\0';
  }
  return out;
}

// Latitude and longitude of a position, metres east and north of (48, 11).
double latitude(const Sample& s) {
  return 48.0 + s.y / 111'200.0;
}
double longitude(const Sample& s) {
  return 11.0 + s.x / 74'630.0;
}

std::string iso(double t) {
  const int ms = static_cast<int>(std::lround(t * 1000.0));
  return text("2024-05-01T12:%02d:%02d.%03d", ms / 60'000, ms / 1000 % 60, ms % 1000);
}

TraceOptions with(TableOptions table) {
  TraceOptions options;
  options.table = std::move(table);
  return options;
}

TraceOptions projected(double gap_s = 0.25) {
  TraceOptions options = with({.project = true});
  options.gap_s = gap_s;
  return options;
}

using Files = std::vector<ForeignFile>;

void add_separators(Files& files) {
  const std::string own = rows("t,x,y,z\n", [](const Sample& s) { return txyz(s); });
  files.push_back({"own form", own});
  files.push_back({"own form with ids and quaternions",
                   two("id,t,x,y,z,qw,qx,qy,qz\n",
                       [](const Sample& s, int k) {
                         return text("%c,", "ab"[k]) + txyz(s) + text(",%.6f,0,0,%.6f", s.qw, s.qz);
                       }),
                   "", std::nullopt, 2, 20.0, false, true});
  files.push_back({"blanks after commas", replaced(own, ",", ", ")});
  files.push_back({"semicolons", replaced(own, ",", ";")});
  files.push_back({"tabs", replaced(own, ",", "\t")});
  files.push_back({"bars", replaced(own, ",", " | ")});
  files.push_back({"aligned with blanks", rows("       t        x        y        z\n", [](const Sample& s) {
                     return text("%8.3f %8.3f %8.3f %8.3f  ", s.t, s.x, s.y, s.z);
                   })});
  files.push_back(
      {"Excel in German",
       "\xef\xbb\xbf" +
           replaced(replaced(replaced(replaced(own, "t,", "Zeit,"), ",", ";"), ".", ","), "\n", "\r\n")});
  files.push_back({"Excel with its sep line", "sep=;\r\n" + replaced(replaced(own, ",", ";"), "\n", "\r\n")});
  files.push_back({"Excel Unicode text", utf16(replaced(replaced(own, ",", "\t"), "\n", "\r\n"), false)});
  files.push_back({"UTF-16, big end first", utf16(own, true)});
  files.push_back({"LabVIEW, decimal commas and tabs", replaced(replaced(own, ",", "\t"), ".", ",")});
  files.push_back({"Python csv on Windows, doubled line ends", replaced(own, "\n", "\r\r\n")});
  files.push_back({"line ends of an old Mac", replaced(own, "\n", "\r")});
}

void add_languages(Files& files) {
  files.push_back({"numpy.savetxt with a header", rows("# t x y z\n", [](const Sample& s) {
                     return text("%.18e %.18e %.18e %.18e", s.t, s.x, s.y, s.z);
                   })});
  files.push_back({"numpy.savetxt without a header",
                   rows("", [](const Sample& s) { return text("%.18e %.18e %.18e", s.t, s.x, s.y); }),
                   "--columns t=1,x=2,y=3", with({.columns = "t=1,x=2,y=3"}), 1, 20.0, true});
  files.push_back({"pandas with its index",
                   rows(",t,x,y,z\n", [](const Sample& s) { return text("%d,", s.i) + txyz(s); })});
  files.push_back({"pandas with times as dates", rows("timestamp,x,y,z\n", [](const Sample& s) {
                     return replaced(iso(s.t), "T", " ") + text("000+00:00,%.4f,%.4f,%.4f", s.x, s.y, s.z);
                   })});
  files.push_back({"R write.table", rows("\"t\" \"x\" \"y\" \"z\"\n", [](const Sample& s) {
                     return text("\"%d\" ", s.i + 1) + txyz(s, " ");
                   })});
  files.push_back({"R write.csv", rows("\"\",\"t\",\"x\",\"y\",\"z\",\"kind\"\n", [](const Sample& s) {
                     return text("\"%d\",", s.i + 1) + txyz(s) + ",\"walk\"";
                   })});
  files.push_back({"MATLAB writetable",
                   rows("Time_s,X_m,Y_m,Z_m,Speed_mps\n", [](const Sample& s) { return txyz(s) + ",1.5"; })});
  files.push_back({"MATLAB with % headings",
                   rows("% exported\n% Time (ms), X (mm), Y (mm), Z (mm)\n", [](const Sample& s) {
                     return text("%.1f, %.1f, %.1f, %.1f", s.t * 1e3, s.x * 1e3, s.y * 1e3, s.z * 1e3);
                   })});
  files.push_back({"own headings, milliseconds since 1970", rows("t,x,y,z\n", [](const Sample& s) {
                     return text("%.0f,%.4f,%.4f,%.4f", (kEpochS + s.t) * 1e3, s.x, s.y, s.z);
                   })});
}

void add_robots(Files& files) {
  const auto tum = [](const Sample& s) {
    return text("%.4f %.4f %.4f %.4f 0 0 %.6f %.6f", kEpochS + s.t, s.x, s.y, s.z, s.qz, s.qw);
  };
  files.push_back({"TUM trajectory",
                   rows("# ground truth trajectory\n# timestamp tx ty tz qx qy qz qw\n", tum), "",
                   std::nullopt, 1, 20.0, false, true});
  files.push_back({"TUM trajectory without headings", rows("", tum), "say what the 8 columns are",
                   with({.columns = "t=1,x=2,y=3,z=4,qx=5,qy=6,qz=7,qw=8"}), 1, 20.0, false, true});
  files.push_back(
      {"KITTI poses",
       rows("", [](const Sample& s) { return text("1 0 0 %.6e 0 1 0 %.6e 0 0 1 %.6e", s.x, s.y, s.z); }),
       "say what the 12 columns are", with({.columns = "t=row,x=4,y=8,z=12", .units = "t=20fps"})});
  files.push_back(
      {"EuRoC ground truth",
       rows("#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], q_RS_y [], q_RS_z "
            "[], "
            "v_RS_R_x [m s^-1], v_RS_R_y [m s^-1], v_RS_R_z [m s^-1], b_w_RS_S_x [rad s^-1], b_w_RS_S_y [rad "
            "s^-1], b_w_RS_S_z [rad s^-1]\n",
            [](const Sample& s) {
              return text("%.0f000000,%.4f,%.4f,%.4f,%.6f,0,0,%.6f,1,2,3,0.1,0.2,0.3", (kEpochS + s.t) * 1e3,
                          s.x, s.y, s.z, s.qw, s.qz);
            }),
       "", std::nullopt, 1, 20.0, false, true});
  files.push_back(
      {"rostopic echo -p",
       rows("%time,field.header.seq,field.header.stamp,field.header.frame_id,field.pose.position.x,"
            "field.pose.position.y,field.pose.position.z,field.pose.orientation.x,"
            "field.pose.orientation.y,field.pose.orientation.z,field.pose.orientation.w\n",
            [](const Sample& s) {
              return text("%.0f000000,%d,%.0f000000,map,%.4f,%.4f,%.4f,0,0,%.6f,%.6f", (kEpochS + s.t) * 1e3,
                          s.i, (kEpochS + s.t) * 1e3, s.x, s.y, s.z, s.qz, s.qw);
            }),
       "", std::nullopt, 1, 20.0, false, true});
  files.push_back(
      {"ROS bag to CSV, time in two columns",
       rows("header.seq,header.stamp.secs,header.stamp.nsecs,header.frame_id,pose.pose.position.x,"
            "pose.pose.position.y,pose.pose.position.z,twist.twist.linear.x,twist.twist.linear.y\n",
            [](const Sample& s) {
              const int ms = static_cast<int>(std::lround(s.t * 1000.0));
              return text("%d,%.0f,%d,odom,%.4f,%.4f,%.4f,1,1", s.i, kEpochS + ms / 1000,
                          ms % 1000 * 1'000'000, s.x, s.y, s.z);
            })});
  files.push_back(
      {"PlotJuggler",
       rows("__time,/odom/pose/pose/position/x,/odom/pose/pose/position/y,/odom/pose/"
            "pose/position/z,/odom/twist/twist/linear/x,/odom/twist/twist/linear/y\n",
            [](const Sample& s) { return text("%.3f,%.4f,%.4f,%.4f,1,1", kEpochS + s.t, s.x, s.y, s.z); })});
  files.push_back(
      {"PX4 local position",
       rows("timestamp,ref_timestamp,ref_lat,ref_lon,x,y,z,delta_xy[0],delta_xy[1],delta_z,vx,vy,vz,"
            "z_deriv,ax,ay,az,heading,xy_valid\n",
            [](const Sample& s) {
              return text("%.0f,123,47.1,8.5,%.4f,%.4f,%.4f,0,0,0,1,1,0,0,0,0,0,%.6f,1", 5e7 + s.t * 1e6, s.x,
                          s.y, s.z, s.yaw);
            }),
       "", std::nullopt, 1, 20.0, false, true});
  files.push_back({"PX4 GPS in 1e-7 degrees",
                   rows("timestamp,lat,lon,alt_ellipsoid\n",
                        [](const Sample& s) {
                          return text("%.0f,%.0f,%.0f,0", 5e7 + s.t * 1e6, latitude(s) * 1e7,
                                      longitude(s) * 1e7);
                        }),
                   "add --project", projected(), 1, 20.0, true, false, 0.05});
  files.push_back({"ArduPilot log as CSV",
                   rows("TimeUS,I,Status,Lat,Lng,Alt,Spd,GCrs\n",
                        [](const Sample& s) {
                          return text("%.0f,0,3,%.8f,%.8f,%.3f,1.5,90", 5e7 + s.t * 1e6, latitude(s),
                                      longitude(s), s.z);
                        }),
                   "add --project", projected(), 1, 20.0, false, false, 0.05});
}

void add_gps(Files& files) {
  files.push_back({"DJI flight log",
                   rows(
                       "time(millisecond),datetime(utc),latitude,longitude,altitude(feet),speed(mph),"
                       "compass_heading(degrees)\n",
                       [](const Sample& s) {
                         return text("%.0f,2024-05-01 12:00:00,%.8f,%.8f,%.4f,3,%.2f", s.t * 1e3, latitude(s),
                                     longitude(s), s.z / 0.3048, 90.0 - s.yaw * kDegrees);
                       },
                       10.0),
                   "add --project", projected(), 1, 10.0, false, false, 0.05});
  files.push_back({"Android GPS logger",
                   rows(
                       "time,lat,lon,elevation,accuracy,bearing,speed,satellites,provider\n",
                       [](const Sample& s) {
                         return iso(s.t) + text("Z,%.8f,%.8f,%.3f,4.5,%.2f,1.5,9,gps", latitude(s),
                                                longitude(s), s.z, 90.0 - s.yaw * kDegrees);
                       },
                       1.0),
                   "add --project", projected(1.5), 1, 1.0, false, true, 0.05});
  files.push_back({"gpsbabel unicsv",
                   rows(
                       "No,Latitude,Longitude,Altitude,Speed,Date,Time\n",
                       [](const Sample& s) {
                         return text("%d,%.8f,%.8f,%.2f,1.5,2024/05/01,12:00:%02d", s.i + 1, latitude(s),
                                     longitude(s), s.z, s.i % 60);
                       },
                       1.0),
                   "add --project", projected(1.5), 1, 1.0, false, false, 0.05});
  files.push_back({"GeoLife PLT",
                   rows(
                       "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My "
                       "Track,0,0,2,8421376\n0\n",
                       [](const Sample& s) {
                         return text("%.8f,%.8f,0,%.3f,%.10f,2008-10-23,02:53:%02d", latitude(s),
                                     longitude(s), s.z / 0.3048, 39744.0 + s.t / 86'400.0, s.i % 60);
                       },
                       1.0),
                   "--columns",
                   [] {
                     TraceOptions options = projected(1.5);
                     options.table.columns = "lat=1,lon=2,z=4,t=5";
                     options.table.units = "t=day,x=ft";
                     return options;
                   }(),
                   1, 1.0, false, false, 0.05});
  files.push_back({"Movebank",
                   two_after_another(
                       "event-id,visible,timestamp,location-long,location-lat,sensor-type,"
                       "tag-local-identifier,individual-local-identifier\n",
                       [](const Sample& s, int k) {
                         return text("%d,true,", s.i) + replaced(iso(s.t), "T", " ") +
                                text(",%.8f,%.8f,gps,%d,\"Bird %d\"", longitude(s), latitude(s), 7 + k, k);
                       },
                       1.0),
                   "add --project", projected(1.5), 2, 1.0, true, false, 0.05});
  files.push_back({"OpenSky states",
                   two(
                       "time,icao24,lat,lon,velocity,heading,vertrate,callsign,geoaltitude\n",
                       [](const Sample& s, int k) {
                         return text("%.0f,3c66%02d,%.8f,%.8f,230,%.3f,0,DLH%d,%.2f", kEpochS + s.t, k,
                                     latitude(s), longitude(s), 90.0 - s.yaw * kDegrees, k, s.z);
                       },
                       1.0),
                   "add --project", projected(1.5), 2, 1.0, true, true, 0.05});
  files.push_back({"UTM coordinates",
                   rows("time,easting,northing,height\n",
                        [](const Sample& s) {
                          return text("%.3f,%.4f,%.4f,0", s.t, 691'000.0 + s.x, 5'334'000.0 + s.y);
                        }),
                   "", std::nullopt, 1, 20.0, true});
  files.push_back({"GPX",
                   "<?xml version=\"1.0\"?>\n<gpx version=\"1.1\"><trk><trkseg><trkpt lat=\"48\" lon=\"11\">",
                   "gpsbabel"});
  files.push_back(
      {"NMEA", "$GPGGA,120000.00,4800.0000,N,01100.0000,E,1,08,1.0,500.0,M,47.0,M,,*6A\n", "gpsbabel"});
}

void add_traffic(Files& files) {
  files.push_back(
      {"SUMO FCD as XML", "<?xml version=\"1.0\"?>\n<fcd-export>\n<timestep time=\"0.00\">\n", "xml2csv.py"});
  files.push_back(
      {"SUMO FCD as CSV",
       two(
           "timestep_time;vehicle_angle;vehicle_id;vehicle_lane;vehicle_pos;vehicle_slope;vehicle_speed;"
           "vehicle_type;vehicle_x;vehicle_y\n",
           [](const Sample& s, int k) {
             return text("%.2f;%.4f;flow.%d;E0_0;5.1;0.0;13.9;car;%.4f;%.4f", s.t, 90.0 - s.yaw * kDegrees, k,
                         s.x, s.y);
           },
           10.0),
       "", std::nullopt, 2, 10.0, true, true});
  files.push_back({"NGSIM",
                   two_after_another(
                       "Vehicle_ID,Frame_ID,Total_Frames,Global_Time,Local_X,Local_Y,Global_X,"
                       "Global_Y,v_Length,v_Width,v_Class,v_Vel,v_Acc,Lane_ID,Preceding,"
                       "Following,Space_Headway,Time_Headway\n",
                       [](const Sample& s, int k) {
                         return text(
                             "%d,%d,60,%.0f,%.4f,%.4f,6451137.6,1873344.9,14,5,2,40,0,"
                             "2,0,13,0,0",
                             k + 2, s.i + 13, 1'118'846'980'200.0 + s.t * 1e3, s.x / 0.3048, s.y / 0.3048);
                       },
                       10.0),
                   "", std::nullopt, 2, 10.0, true});
  files.push_back({"highD tracks",
                   two_after_another(
                       "frame,id,x,y,width,height,xVelocity,yVelocity,xAcceleration,"
                       "yAcceleration,precedingId,laneId\n",
                       [](const Sample& s, int k) {
                         return text("%d,%d,%.4f,%.4f,4.85,2.12,40,0.2,0.3,0,0,5", s.i + 1, k + 1, s.x, s.y);
                       },
                       25.0),
                   "--units t=25fps", with({.units = "t=25fps"}), 2, 25.0, true});
  files.push_back({"inD tracks",
                   two_after_another(
                       "recordingId,trackId,frame,trackLifetime,xCenter,yCenter,heading,width,length,"
                       "xVelocity,yVelocity,lonVelocity,latVelocity\n",
                       [](const Sample& s, int k) {
                         return text("7,%d,%d,%d,%.5f,%.5f,%.5f,1.9,4.5,1,1,1,0", k, s.i, s.i, s.x, s.y,
                                     s.yaw * kDegrees);
                       },
                       25.0),
                   "--units t=25fps", with({.units = "t=25fps"}), 2, 25.0, true, true});
  files.push_back({"INTERACTION tracks",
                   two_after_another(
                       "track_id,frame_id,timestamp_ms,agent_type,x,y,vx,vy,psi_rad,length,width\n",
                       [](const Sample& s, int k) {
                         return text("%d,%d,%.0f,car,%.3f,%.3f,1,1,%.4f,4.5,1.8", k + 1, s.i + 1,
                                     100.0 + s.t * 1e3, s.x, s.y, s.yaw);
                       },
                       10.0),
                   "", std::nullopt, 2, 10.0, true, true});
  files.push_back({"Argoverse",
                   two(
                       "TIMESTAMP,TRACK_ID,OBJECT_TYPE,X,Y,CITY_NAME\n",
                       [](const Sample& s, int k) {
                         return text("%.3f,00000000-0000-0000-0000-00000000000%d,OTHERS,%.6f,%.6f,PIT",
                                     kEpochS + s.t, k, s.x, s.y);
                       },
                       10.0),
                   "", std::nullopt, 2, 10.0, true});
}

void add_people(Files& files) {
  files.push_back({"ETH obsmat",
                   two(
                       "",
                       [](const Sample& s, int k) {
                         return text(
                             "  %.7e   %.7e   %.7e   0.0000000e+00   %.7e   1.0e+00   0.0e+00   1.0e+00",
                             780.0 + 10.0 * s.i, 1.0 + k, s.x, s.y);
                       },
                       2.5),
                   "say what the 8 columns are",
                   [] {
                     TraceOptions options = with({.columns = "t=1,id=2,x=3,y=5", .units = "t=25fps"});
                     options.gap_s = 0.5;
                     return options;
                   }(),
                   2, 2.5, true});
  files.push_back(
      {"UCY and TrajNet text",
       two(
           "",
           [](const Sample& s, int k) { return text("%d\t%d\t%.4f\t%.4f", 780 + 10 * s.i, 1 + k, s.x, s.y); },
           2.5),
       "say what the 4 columns are", with({.columns = "t=1,id=2,x=3,y=4", .units = "t=25fps"}), 2, 2.5,
       true});
  files.push_back({"MOT Challenge tracks",
                   two(
                       "",
                       [](const Sample& s, int k) {
                         return text("%d,%d,%.2f,%.2f,96.2,252.4,1,-1,-1,-1", s.i + 1, k + 1, s.x * 100.0,
                                     s.y * 100.0);
                       },
                       25.0),
                   "say what the 10 columns are",
                   with({.columns = "t=1,id=2,x=3,y=4", .units = "t=25fps,x=0.01"}), 2, 25.0, true});
  files.push_back({"DeepLabCut",
                   rows("scorer,DLC,DLC,DLC,DLC,DLC,DLC\nbodyparts,nose,nose,nose,tail,tail,tail\n"
                        "coords,x,y,likelihood,x,y,likelihood\n",
                        [](const Sample& s) {
                          return text("%d,%.3f,%.3f,0.99,%.3f,%.3f,0.98", s.i, s.x * 100.0, s.y * 100.0,
                                      s.x * 100.0, s.y * 100.0 + 300.0);
                        }),
                   "--columns t=1", with({.columns = "t=1", .units = "t=20fps,x=0.01"}), 2, 20.0, true});
}

void add_motion_capture(Files& files) {
  files.push_back({"OptiTrack Motive",
                   rows(
                       "Format Version,1.23,Take Name,Take 1,Capture Frame Rate,120.000000,Rotation "
                       "Type,Quaternion,Length "
                       "Units,Meters\n\n"
                       ",Type,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid "
                       "Body,Rigid Body,Rigid "
                       "Body,Rigid Body,Rigid Body\n"
                       ",Name,Body 1,Body 1,Body 1,Body 1,Body 1,Body 1,Body 1,Body 1,Body 2,Body 2,Body 2\n"
                       ",ID,AB12,AB12,AB12,AB12,AB12,AB12,AB12,AB12,CD34,CD34,CD34\n"
                       ",,Rotation,Rotation,Rotation,Rotation,Position,Position,Position,Mean Marker "
                       "Error,Position,Position,Position\n"
                       "Frame,Time (Seconds),X,Y,Z,W,X,Y,Z,,X,Y,Z\n",
                       [](const Sample& s) {
                         return text("%d,%.6f,0,0,%.6f,%.6f,%.6f,%.6f,%.6f,0.0002,%.6f,%.6f,%.6f", s.i, s.t,
                                     s.qz, s.qw, s.x, s.y, s.z, s.x, s.y + 3.0, s.z);
                       },
                       120.0),
                   "", std::nullopt, 2, 120.0, false, true});
  files.push_back({"Vicon Nexus",
                   rows(
                       "Trajectories\n100\n,,Subject:LFHD,,,Subject:RFHD,,\nFrame,Sub "
                       "Frame,X,Y,Z,X,Y,Z\n,,mm,mm,mm,mm,mm,mm\n",
                       [](const Sample& s) {
                         return text("%d,0,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f", s.i + 1, s.x * 1e3, s.y * 1e3,
                                     s.z * 1e3, s.x * 1e3, s.y * 1e3 + 3e3, s.z * 1e3);
                       },
                       100.0),
                   "numbers of frames", with({.units = "t=100fps"}), 2, 100.0});
  files.push_back(
      {"Qualisys TSV",
       rows(
           "NO_OF_FRAMES\t60\nNO_OF_CAMERAS\t8\nNO_OF_MARKERS\t2\nFREQUENCY\t100\nDATA_INCLUDED\t3D\n"
           "MARKER_NAMES\tA\tB\nFrame\tTime\tA X\tA Y\tA Z\tB X\tB Y\tB Z\n",
           [](const Sample& s) {
             return text("%d\t%.5f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f", s.i + 1, s.t, s.x, s.y, s.z, s.x,
                         s.y + 3.0, s.z);
           },
           100.0),
       "", std::nullopt, 2, 100.0});
  files.push_back(
      {"OpenSim TRC",
       rows(
           "PathFileType\t4\t(X/Y/Z)\trun.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n"
           "100\t100\t60\t2\tm\nFrame#\tTime\tA\t\t\tB\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n",
           [](const Sample& s) {
             return text("%d\t%.5f\t%.5f\t%.5f\t%.5f\t%.5f\t%.5f\t%.5f", s.i + 1, s.t, s.x, s.y, s.z, s.x,
                         s.y + 3.0, s.z);
           },
           100.0),
       "", std::nullopt, 2, 100.0});
  files.push_back(
      {"BVH", "HIERARCHY\nROOT Hips\n{\n  OFFSET 0.0 0.0 0.0\n", "export positions of joints as CSV"});
  files.push_back({"HTC Vive log, blanks", rows("Time x-position y-position z-position\n",
                                                [](const Sample& s) { return txyz(s, " "); })});
}

void add_engines(Files& files) {
  files.push_back(
      {"Unity VR log",
       rows("time_stamp,head_pos_x,head_pos_y,head_pos_z,head_rot_x,head_rot_y,head_rot_z,head_rot_w,"
            "lefthand_pos_x,lefthand_pos_y,lefthand_pos_z,gaze_dir_x,gaze_dir_y,gaze_dir_z\n",
            [](const Sample& s) {
              return text("%.0f,%.4f,%.4f,%.4f,0,0,%.6f,%.6f,%.4f,%.4f,%.4f,0,0,1", s.t * 1e3, s.x, s.y, s.z,
                          s.qz, s.qw, s.x, s.y + 3.0, s.z);
            }),
       "", std::nullopt, 2, 20.0, false, true});
  files.push_back({"Unity in German",
                   rows("Zeit;PositionX;PositionY;PositionZ;RotationX;RotationY\n",
                        [](const Sample& s) { return replaced(txyz(s, ";"), ".", ",") + ";1,5;2,5"; })});
  files.push_back({"Unreal log in centimetres",
                   two("Time,ActorName,X,Y,Z,Yaw,Health\n",
                       [](const Sample& s, int k) {
                         return text("%.3f,BP_Bot_C_%d,%.2f,%.2f,%.2f,%.3f,100", s.t, k, s.x * 100.0,
                                     s.y * 100.0, s.z * 100.0, s.yaw * kDegrees);
                       }),
                   "", std::nullopt, 2, 20.0, false, true});
  files.push_back({"demo parser of a shooter",
                   two(
                       "tick,steamid,name,X,Y,Z,yaw\n",
                       [](const Sample& s, int k) {
                         return text("%d,7656119%d,\"player, %d\",%.3f,%.3f,%.3f,%.4f", 1000 + s.i, k, k,
                                     s.x / 0.0254, s.y / 0.0254, s.z / 0.0254, s.yaw * kDegrees);
                       },
                       64.0),
                   "numbers of frames", with({.units = "t=64fps,x=in"}), 2, 64.0, false, true});
}

void add_other_formats(Files& files) {
  files.push_back({"JSON", "[{\"t\": 0, \"x\": 1, \"y\": 2}]", "pandas"});
  files.push_back({"gzip", std::string("\x1f\x8b\x08\x00\x00\x00", 6), "gunzip"});
  files.push_back({"workbook", std::string("PK\x03\x04\x14\x00", 6), "save the sheet as CSV"});
}

}  // namespace

std::vector<ForeignFile> foreign_files() {
  Files files;
  add_separators(files);
  add_languages(files);
  add_robots(files);
  add_gps(files);
  add_traffic(files);
  add_people(files);
  add_motion_capture(files);
  add_engines(files);
  add_other_formats(files);
  return files;
}

}  // namespace reckoner::scenario::test
