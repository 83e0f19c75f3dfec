import type { ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { type Clock, mapAtMost, subtractTime } from "../core/base/clock.ts";
import { type Page, type PageBlock, renderAlarm } from "./html.ts";
import { SECURITY_HEADERS, TYPES } from "./reply.ts";

/** A page as it is now, and what everyone must know. */
export interface LivePage {
  page: Page;
  alarm: string | undefined;
}

/** The viewers of one address. */
interface Channel {
  build: () => Promise<LivePage>;
  viewers: Set<ServerResponse>;
  shown: LivePage | undefined;
}

/** What changes in an element: the order of the ids of its children if that changes, and the HTML of the new ones. */
interface BlockChange {
  id: string;
  order?: readonly string[];
  put: Readonly<Record<string, string>>;
}

/** Shortest time between two updates, ms. */
const UPDATE_INTERVAL_MS = 250;
/** The pause is this many times as long as the work, so that others are served; but viewers wait no longer than this for the end of it. */
const PAUSE_FACTOR = 3;
const MAX_PAUSE_MS = 500;
/** Pages that are built at the same time: they wait for etcd. */
const BUILDS_AT_ONCE = 8;
/** Time after which a viewer gets a line without meaning, ms: a proxy does not close the connection then. */
const HEARTBEAT_MS = 15_000;
/** A viewer is disconnected if nothing reaches it for this time, ms. */
const SILENCE_TIMEOUT_MS = 60_000;
const MAX_VIEWERS = 300;
/** A viewer that reads more slowly is disconnected; its browser comes back. */
const MAX_BACKLOG_BYTES = 1_000_000;
/** How soon a browser comes back, ms. */
const RECONNECT_MS = 2_000;

/** Sends a viewer a page, and what changes on it. @returns false if there are too many viewers */
type AddViewer = (
  address: string,
  build: () => Promise<LivePage>,
  response: ServerResponse,
) => Promise<boolean>;

/** Creates a function that adds viewers. A page is built once for all its viewers. */
export function createLivePages(clock: Clock, signal: AbortSignal): AddViewer {
  const channels = new Map<string, Channel>();
  let viewers = 0;
  let isRunning = false;

  return async (address, build, response) => {
    if (viewers >= MAX_VIEWERS) return false;
    viewers += 1;
    response.once("close", () => remove(address, response));
    const channel = channels.get(address) ?? { build, viewers: new Set(), shown: undefined };
    channels.set(address, channel);
    channel.shown ??= await build(); // throws before anything is sent
    if (response.destroyed) return true;
    channel.viewers.add(response);
    channels.set(address, channel); // all others may have left meanwhile
    response.socket?.setTimeout(SILENCE_TIMEOUT_MS);
    response.writeHead(200, { ...SECURITY_HEADERS, "content-type": TYPES.events, "x-accel-buffering": "no" });
    send(response, `retry: ${RECONNECT_MS}\n\n${formatChanges(undefined, channel.shown)}`);
    if (!isRunning) void run();
    return true;
  };

  function remove(address: string, response: ServerResponse): void {
    viewers -= 1;
    const channel = channels.get(address);
    channel?.viewers.delete(response);
    if (channel?.viewers.size === 0) channels.delete(address);
  }

  async function run(): Promise<void> {
    isRunning = true;
    let beat = clock.now();
    while (channels.size > 0 && !signal.aborted) {
      const start = clock.now();
      await mapAtMost([...channels.values()], BUILDS_AT_ONCE, updateViewers);
      if (subtractTime(start, beat) > HEARTBEAT_MS) {
        beat = start;
        for (const { viewers } of channels.values()) for (const viewer of viewers) send(viewer, ":\n\n");
      }
      const pause = PAUSE_FACTOR * subtractTime(clock.now(), start);
      await clock.sleep(Math.min(MAX_PAUSE_MS, Math.max(UPDATE_INTERVAL_MS, pause)), signal).catch(() => {});
    }
    isRunning = false;
  }
}

async function updateViewers(channel: Channel): Promise<void> {
  await setImmediate();
  try {
    const next = await channel.build();
    if (next === channel.shown) return;
    const text = formatChanges(channel.shown, next);
    channel.shown = next;
    if (text !== "") for (const viewer of channel.viewers) send(viewer, text);
  } catch {
    // What was shown is gone: the browser loads the page again, and shows why.
    for (const viewer of channel.viewers) send(viewer, "event: gone\ndata:\n\n");
    for (const viewer of channel.viewers) viewer.end();
  }
}

function send(viewer: ServerResponse, text: string): void {
  if (viewer.writableLength > MAX_BACKLOG_BYTES) viewer.destroy();
  else viewer.write(text);
}

/** Formats an event with what has changed; empty if nothing has. @param before  undefined: everything is new */
function formatChanges(before: LivePage | undefined, { page, alarm }: LivePage): string {
  if (before !== undefined && formatFrame(before.page) !== formatFrame(page))
    return "event: other\ndata:\n\n";
  const blocks = page.blocks.flatMap((block, at) => compareBlocks(before?.page.blocks[at], block));
  const isSameAlarm = before !== undefined && before.alarm === alarm;
  if (blocks.length === 0 && isSameAlarm) return "";
  const change = { blocks, ...(!isSameAlarm && { alarm: renderAlarm(alarm).text }) };
  return `data: ${JSON.stringify(change)}\n\n`;
}

/** What stays the same while items change. */
function formatFrame({ blocks }: Page): string {
  return blocks.map(({ before, after }) => before.text + after.text).join("");
}

function compareBlocks(before: PageBlock | undefined, { id, items }: PageBlock): BlockChange[] {
  const known = new Map(before?.items.map((item) => [item.id, item.html.text]));
  const changed = items.filter((item) => known.get(item.id) !== item.html.text);
  const order = items.map((item) => item.id);
  const isSameOrder =
    before !== undefined && order.join(" ") === before.items.map((item) => item.id).join(" ");
  if (changed.length === 0 && isSameOrder) return [];
  const put = Object.fromEntries(changed.map((item) => [item.id, item.html.text]));
  return [{ id, ...(!isSameOrder && { order }), put }];
}
