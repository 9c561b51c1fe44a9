// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/reckoning/remote_entity.hpp>  // what a client shows each entity with
