"use strict";

const Aria2 = require("./lib/Aria2");

module.exports = Aria2;
