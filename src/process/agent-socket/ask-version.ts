import { connect, type Socket } from "node:net";
import { BLOCK_MAX, encodeFrame, type Frame, FrameReader } from "../guarded-command/wire.ts";
import { loadPeerAddon, type PeerAddon } from "./peer.ts";
import { AGENT_REQUEST, CALL_VERSION, LAUNCHER_EVENT } from "./wire.ts";

/** The answer of an agent. `uid`: the user whose process listens, or systemd's. */
type VersionAnswer =
  | { kind: "answered"; version: string; uid: number }
  | { kind: "declined"; reason: string; uid: number }
  | { kind: "silent"; reason: string };

/** Time limit for the whole answer, ms. */
const PATIENCE = 2_000;

/** Asks the agent behind a socket for its version, with a call as a launcher sends it. Never rejects. */
export async function askAgentVersion(path: string): Promise<VersionAnswer> {
  try {
    const addon = loadPeerAddon();
    const socket = connect(path);
    return await readAnswer(socket, addon).finally(() => socket.destroy());
  } catch (error) {
    return { kind: "silent", reason: (error as Error).message };
  }
}

function readAnswer(socket: Socket, addon: PeerAddon): Promise<VersionAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<VersionAnswer>();
  const reader = new FrameReader(BLOCK_MAX);
  const fail = (reason: string) => resolve({ kind: "silent", reason });
  let version = "";
  let uid = -1;
  const handle = ({ kind, block }: Frame) => {
    if (kind === AGENT_REQUEST.write) version += block.toString();
    if (kind === AGENT_REQUEST.declined) resolve({ kind: "declined", reason: block.toString(), uid });
    if (kind === AGENT_REQUEST.end) resolve({ kind: "answered", version: version.trim(), uid });
  };
  const timer = setTimeout(() => fail(`no answer within ${PATIENCE / 1000}s`), PATIENCE);
  socket.on("connect", () => {
    try {
      uid = addon.readPeer(socket).uid;
      socket.write(encodeVersionCall(addon.readBootTime()));
    } catch (error) {
      reject(error);
    }
  });
  socket.on("data", (chunk: Buffer) => {
    try {
      for (const frame of reader.consume(chunk)) handle(frame);
    } catch {
      fail("its answer is malformed");
    }
  });
  socket.on("error", ({ message }) => fail(message));
  socket.on("close", () => fail("it closed the connection"));
  return promise.finally(() => clearTimeout(timer));
}

/** @param bootTime  ms */
function encodeVersionCall(bootTime: number): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(process.pid, 0);
  head.writeUInt32LE(process.ppid, 4);
  const sent = BigInt(Math.round(bootTime * 1e6));
  return Buffer.concat([
    encodeFrame(LAUNCHER_EVENT.call, sent, CALL_VERSION, Buffer.concat([head, Buffer.from("/\0")])),
    encodeFrame(LAUNCHER_EVENT.words, 0n, 0n, Buffer.from("--version\0")),
    encodeFrame(LAUNCHER_EVENT.callEnd),
  ]);
}
