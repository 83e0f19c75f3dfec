// Loaded before the program (`node --require`). Records the times of its phases, and writes them at the exit. The program
// itself contains no code for this.
"use strict";
const { writeFileSync } = require("node:fs");
const Module = require("node:module");
const vm = require("node:vm");

const marks = [];
const mark = (what) => marks.push([what, performance.now()]);

const load = Module._load;
Module._load = function (request, ...rest) {
  const exported = load.call(this, request, ...rest);
  if (request === "node:net") watchCalls(exported);
  if (request === "node:child_process") watchSpawns(exported);
  return exported;
};

vm.Script = class extends vm.Script {
  constructor(...args) {
    mark("code asked for");
    super(...args);
    mark("code loaded");
  }
};

/** Recognizes requests by their first line, and answers by the first bytes after a request. */
function watchCalls(net) {
  const { connect } = net;
  if (connect.watched) return;
  net.connect = (...args) => {
    const socket = connect(...args);
    let path;
    const { write, emit } = socket;
    socket.write = function (text, ...rest) {
      path = /^POST (\S+)/.exec(String(text))?.[1] ?? path;
      mark(`${path} asked`);
      return write.call(this, text, ...rest);
    };
    socket.emit = function (name, ...rest) {
      if (name === "data") mark(`${path} answered`);
      return emit.call(this, name, ...rest);
    };
    return socket;
  };
  net.connect.watched = true;
}

function watchSpawns(processes) {
  const { spawn } = processes;
  if (spawn.watched) return;
  processes.spawn = (...args) => {
    mark("guardian asked for");
    const child = spawn(...args);
    mark("guardian started");
    return child;
  };
  processes.spawn.watched = true;
}

process.on("exit", () => {
  mark("exit");
  const { bootstrapComplete } = performance.nodeTiming;
  writeFileSync(process.env.BENCH_MARKS, JSON.stringify([["node ready", bootstrapComplete], ...marks]));
});
