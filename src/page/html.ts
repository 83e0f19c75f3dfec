import { clean } from "../core/base/text.ts";
import { formatListName, LISTS } from "./routes.ts";

/** HTML that is safe to send. Only `html` makes it, so every text in it is escaped. */
class SafeHtml {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Html = SafeHtml;

/** What a template takes: `undefined` and `false` are left out. */
type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[];

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/**
 * Builds HTML from a template. Values are texts of others: control characters are removed, bidi controls are shown, and what HTML
 * interprets is escaped, so a value can be a text or an attribute in quotes. A value must not be a URL with a scheme of its own.
 */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new SafeHtml(parts.map((part, at) => part + formatValue(values[at])).join(""));
}

function formatValue(value: HtmlValue): string {
  if (value === undefined || value === false) return "";
  if (value instanceof SafeHtml) return value.text;
  if (typeof value === "string") return clean(value).replace(/[&<>"'`]/g, (sign) => ESCAPES[sign] ?? "");
  return typeof value === "number" ? String(value) : value.map(formatValue).join("");
}

/** A part of a page that can change by itself: an element with the id in its own HTML. */
export interface PageItem {
  id: string;
  html: Html;
}

/** An element whose children change: `before` ends with its start tag, which has the id, and `after` begins with its end tag. */
export interface PageBlock {
  id: string;
  before: Html;
  items: readonly PageItem[];
  after: Html;
}

/** What a page shows. Without the items it stays the same, or the browser takes all of it again. */
export interface Page {
  title: string;
  blocks: readonly PageBlock[];
  /** Its place in the navigation. */
  section: string;
}

/** Where a page is, and what is true of the site as a whole. */
export interface PageFrame {
  basePath: string;
  /** Names the cluster. */
  site: string;
  version: string;
  /** What everyone must know: that etcd is away. */
  alarm: string | undefined;
}

/** Seconds after which a browser without scripts loads a page again. */
const REFRESH_S = 10;

/** The overview, and what is wrong, then all else. */
const SECTIONS = new Set(["overview", "problems", ...LISTS]);

/** Renders the document of a page. */
export function renderDocument(page: Page, frame: PageFrame): string {
  const { basePath, site, version, alarm } = frame;
  const link = (id: string) =>
    html`<li><a href="${basePath}/${id !== "overview" && id}"${id === page.section && html` aria-current="page"`}>${formatListName(id)}</a></li>`;
  const content = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title} – signalbox</title>
<link rel="icon" href="${basePath}/files/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${basePath}/files/style.css?${version}">
<script src="${basePath}/files/live.js?${version}" defer></script>
<noscript><meta http-equiv="refresh" content="${REFRESH_S}"></noscript>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="site"><strong>signalbox</strong> ${site}</p>
<nav aria-label="Pages"><ul>${Array.from(SECTIONS, link)}</ul></nav>
</header>
<main id="main" tabindex="-1">
<div id="alarm" role="status">${renderAlarm(alarm)}</div>
<div id="offline" role="status"></div>
${page.blocks.map(renderBlock)}
</main>
</body>
</html>
`;
  return content.text;
}

export function renderAlarm(alarm: string | undefined): Html {
  return alarm === undefined ? html`` : html`<p class="alarm">${alarm}</p>`;
}

function renderBlock({ before, items, after }: PageBlock): Html {
  return html`${before}${items.map((item) => item.html)}${after}`;
}
