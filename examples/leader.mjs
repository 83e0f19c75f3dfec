// Leader election: each copy of the program waits to lead, and all of them know who leads.
import { connect } from "signalbox";

const signalbox = await connect();
const over = new AbortController();
process.once("SIGTERM", () => over.abort());

async function reportLeaders() {
  for await (const leader of signalbox.watchLock("leader", { signal: over.signal }))
    console.log(leader === undefined ? "nobody leads" : `process ${leader.pid} leads`);
}

async function lead() {
  while (!over.signal.aborted) {
    const held = await signalbox.acquire({ lock: "leader", wait: true, signal: over.signal });
    const ended = AbortSignal.any([held.signal, over.signal]); // what the leader does must end when this is aborted
    console.log(`I lead, token ${held.token}`);
    await new Promise((resolve) => ended.addEventListener("abort", resolve, { once: true }));
    await held.release();
  }
}

const isOver = (error) => {
  if (!over.signal.aborted) throw error;
};
await Promise.all([reportLeaders().catch(isOver), lead().catch(isOver)]);
await signalbox.close();
