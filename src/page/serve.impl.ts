import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { SiteMetrics } from "../cli/commands/see/site-metrics.ts";
import { type CommandContext, createStoreCommand } from "../cli/frame/store-command.ts";
import { formatInstant, type MonotonicTime, subtractTime, type WallTime } from "../core/base/clock.ts";
import { EXIT, SignalboxError, UsageError } from "../core/base/errors.ts";
import { quoteText } from "../core/base/text.ts";
import { VERSION } from "../core/base/version.ts";
import { thisMachine } from "../core/config/machine.ts";
import { createNotifier } from "../core/process/notifier.ts";
import { formatListenAddress, parseListenAddress } from "../worker/metrics/listen-address.ts";
import { serveRequests } from "../worker/metrics/metrics-server.ts";
import { createAccess } from "./access.ts";
import { FILES } from "./files.ts";
import { html, type Page, renderDocument } from "./html.ts";
import { SiteLists } from "./lists.ts";
import { createLivePages, type LivePage } from "./live.ts";
import { answerCheck, buildObjectPage, formatObjectJson, readObject } from "./objects.ts";
import { buildOverviewPage, formatOverviewJson } from "./overview.ts";
import { Body, createTextReply, type Reply, sendReply, TYPES } from "./reply.ts";
import { type PageRoute, parseTarget, type Route, type Target } from "./routes.ts";
import { DEFAULT_ADDRESS, type ServeFlags } from "./serve.ts";
import { createLivenessStore, SiteFollower, type SiteState } from "./site-follower.ts";

/** Connections: each viewer has one or two, and a proxy has those of all its viewers. */
const CLIENTS = { total: 1_000, perAddress: 600 };

export const execute = createStoreCommand<ServeFlags>(
  async (context) => {
    const { flags, io, log } = context;
    const address = parseListenAddress(flags.listen ?? DEFAULT_ADDRESS);
    const access = createAccess(flags, {
      address,
      names: [context.facts.fqdn, context.facts.host, thisMachine.hostname()],
      credentials: io.env.CREDENTIALS_DIRECTORY,
    });
    const basePath = parseBasePath(flags["base-path"]);
    const follower = new SiteFollower(context, flags["show-output"] === true);
    const metrics = new SiteMetrics(context, await import("prom-client"));
    const site = new SitePages(context, follower, metrics, basePath);
    const server = await serveRequests(address, CLIENTS, log, async (request, response) => {
      const denial = access(request);
      if (denial === undefined) return await site.answer(request, response);
      const { status, message, headers = {} } = denial;
      await sendReply(request, response, { ...createTextReply(status, message), headers });
    });
    const notifier = createNotifier(io.env, { log, isAlive: () => true });
    context.printMessage(`serving the page and metrics on ${formatListenAddress(server.address)}${basePath}`);
    notifier.sendReady();
    try {
      return await follower.follow(
        (state) => site.prepare(state),
        (event) => metrics.countEvent(event),
      );
    } finally {
      notifier.sendStopping();
      follower.end();
      await server.close();
      await notifier.close();
    }
  },
  { prefersGrpc: true },
);

/** @throws UsageError */
function parseBasePath(text = ""): string {
  const path = text.replace(/\/$/, "");
  if (/^(\/[\w.~-]+)*$/.test(path)) return path;
  throw new UsageError(`--base-path must be a path such as /jobs; got ${quoteText(text)}`);
}

/** A page that was built, and for what. It does not keep the snapshot: each has a map of ten thousand queues. */
interface KnownPage {
  revision: bigint;
  awaySince: WallTime | undefined;
  at: MonotonicTime;
  live: Promise<LivePage>;
  body?: Promise<Body>;
}

const LARGE_PAGES = ["/", "/locks", "/queues", "/runs"];
const MAX_KNOWN_PAGES = 64;
/** A page of the same state is used again for this time, ms: it says how old things are. */
const MAX_AGE_MS = 1_000;
/** The same while the state changes, so that pages of large sites do not take all the time. */
const REUSE_TIME_MS = 250;

/** Answers requests from what is known of the site. Each page is built a few times a second at most. */
class SitePages {
  readonly #context: CommandContext;
  readonly #follower: SiteFollower;
  readonly #metrics: SiteMetrics;
  readonly #basePath: string;
  readonly #lists: SiteLists;
  readonly #addViewer: ReturnType<typeof createLivePages>;
  readonly #known = new Map<string, KnownPage>();

  constructor(context: CommandContext, follower: SiteFollower, metrics: SiteMetrics, basePath: string) {
    this.#follower = follower;
    this.#metrics = metrics;
    this.#basePath = basePath;
    const isAway = () => follower.getState().awaySince !== undefined;
    const store = createLivenessStore(context.store, context, isAway);
    this.#context = { ...context, store, printMessage: () => {} };
    this.#lists = new SiteLists(context.keys, basePath);
    this.#addViewer = createLivePages(context.clock, context.signal);
  }

  /** Builds the pages with the most rows, so that what they keep is there before somebody asks. */
  async prepare(state: SiteState): Promise<void> {
    for (const path of LARGE_PAGES) {
      const { route, query } = parseTarget(path, "") as Target;
      await this.#buildPage(route as PageRoute, query, state, this.#context.clock.getWallTime());
      await setImmediate();
    }
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = "", headers } = request;
    const target = parseTarget(url, this.#basePath);
    const isLive = headers.accept === "text/event-stream" && method === "GET";
    try {
      if (isLive && target !== undefined && isPageRoute(target.route)) {
        const { route, query } = target;
        const key = buildPageKey(route, query);
        const isAdded = await this.#addViewer(key, () => this.#getPage(key, route, query).live, response);
        if (isAdded) return;
      }
      const reply = isLive
        ? createTextReply(503, "there are too many viewers")
        : await this.#findReply(target, headers.accept);
      await sendReply(request, response, reply);
    } catch (error) {
      if (!(error instanceof SignalboxError) || response.headersSent) throw error;
      const status = error instanceof UsageError ? 400 : error.exitCode === EXIT.undone ? 404 : 503;
      await sendReply(request, response, this.#createErrorReply(status, error.message, target));
    }
  }

  async #findReply(target: Target | undefined, accept = ""): Promise<Reply> {
    if (target === undefined) return this.#createErrorReply(404, "there is no such page", target);
    const { route, query } = target;
    const isJson = target.isJson || (accept.includes("application/json") && !accept.includes("text/html"));
    const state = this.#follower.getState();
    const isAway = state.awaySince !== undefined;
    const file = route.kind === "file" && FILES.get(route.name);
    if (file) return { status: 200, ...file, headers: { "cache-control": "max-age=3600" } };
    if (route.kind === "metrics") {
      const text = await this.#metrics.renderMetrics(isAway ? undefined : state.snapshot);
      return { status: 200, type: TYPES.metrics, body: new Body(text) };
    }
    if (route.kind === "healthz")
      return isAway ? createTextReply(503, "etcd is unreachable") : createTextReply(200, "ok");
    if (route.kind === "check" || route.kind === "badge")
      return await answerCheck(this.#follow(state), route, query, { isJson, isAway });
    if (!isPageRoute(route)) return createTextReply(404, "there is no such file");
    requireRead(state);
    if (isJson) return await this.#createJsonReply(route, query, state);
    const known = this.#getPage(buildPageKey(route, query), route, query);
    known.body ??= known.live.then(({ page, alarm }) => new Body(this.#renderDocument(page, alarm)));
    return { status: 200, type: TYPES.html, body: await known.body };
  }

  async #createJsonReply(route: PageRoute, query: URLSearchParams, state: SiteState): Promise<Reply> {
    const { awaySince } = state;
    // Programs see that it may be old.
    const headers =
      awaySince === undefined ? {} : { "x-etcd-unreachable-since": new Date(awaySince).toISOString() };
    return { status: 200, type: TYPES.json, body: await this.#formatJson(route, query, state), headers };
  }

  async #formatJson(route: PageRoute, query: URLSearchParams, state: SiteState): Promise<Reply["body"]> {
    const wall = this.#context.clock.getWallTime();
    if (route.kind === "list") return await this.#lists.formatJson({ id: route.id, query }, state, wall);
    if (route.kind === "overview")
      return new Body(formatOverviewJson(state, wall, this.#context.keys.prefix));
    return formatObjectJson(route, await readObject(this.#follow(state), route));
  }

  /** Returns the page for the current state, or the last one, for a short while. */
  #getPage(key: string, route: PageRoute, query: URLSearchParams): KnownPage {
    const state = this.#follower.getState();
    const {
      awaySince,
      snapshot: { revision },
    } = state;
    const { clock } = this.#context;
    const [at, wall] = [clock.now(), clock.getWallTime()];
    const last = this.#known.get(key);
    const limit = last?.revision === revision ? MAX_AGE_MS : REUSE_TIME_MS;
    if (last && last.awaySince === awaySince && subtractTime(at, last.at) < limit) return last;
    const alarm = formatAlarm(awaySince);
    const live = this.#buildPage(route, query, state, wall).then((page) => ({ page, alarm }));
    const known = { revision, awaySince, at, live };
    if (this.#known.size >= MAX_KNOWN_PAGES) this.#known.clear();
    this.#known.set(key, known);
    return known;
  }

  async #buildPage(
    route: PageRoute,
    query: URLSearchParams,
    state: SiteState,
    wall: WallTime,
  ): Promise<Page> {
    requireRead(state);
    if (route.kind === "overview") return await buildOverviewPage(this.#lists, state, wall, this.#basePath);
    if (route.kind === "list") return await this.#lists.buildPage({ id: route.id, query }, state, wall);
    return buildObjectPage(route, await readObject(this.#follow(state), route), this.#basePath);
  }

  /** Lets reads take what is followed. */
  #follow({ snapshot }: SiteState): CommandContext {
    return { ...this.#context, followedSnapshot: snapshot };
  }

  #renderDocument(page: Page, alarm: string | undefined): string {
    const { keys, config } = this.#context;
    const site = config.values.context ?? keys.prefix;
    return renderDocument(page, { basePath: this.#basePath, site, version: VERSION, alarm });
  }

  #createErrorReply(status: number, message: string, target: Target | undefined): Reply {
    if (target === undefined || target.isJson) return createTextReply(status, message);
    const page = {
      title: "Not shown",
      section: "",
      blocks: [{ id: "error", before: html`<h1>Not shown</h1><p>${message}</p>`, items: [], after: html`` }],
    };
    return { status, type: TYPES.html, body: new Body(this.#renderDocument(page, undefined)) };
  }
}

function buildPageKey(route: PageRoute, query: URLSearchParams): string {
  return JSON.stringify([route, String(query)]);
}

function isPageRoute(route: Route): route is PageRoute {
  return ["overview", "list", "object"].includes(route.kind);
}

/** @throws SignalboxError 69 before everything was read once */
function requireRead({ isRead }: SiteState): void {
  if (!isRead) throw new SignalboxError(EXIT.unreachable, "etcd has not been read yet; try again");
}

function formatAlarm(awaySince: WallTime | undefined): string | undefined {
  return awaySince === undefined
    ? undefined
    : `etcd is unreachable since ${formatInstant(awaySince)}. This page shows what was last known.`;
}
