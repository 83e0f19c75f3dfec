import { useEffect } from "react";
import type { CommandContext } from "../../cli/frame/store-command.ts";
import { describeOwnKey } from "../../cli/views/etcd-keys.ts";
import { decodeUtf8, encodeUtf8, formatKey } from "../../core/base/bytes.ts";
import { getErrorMessage } from "../../core/base/errors.ts";
import { pluralize } from "../../core/base/text.ts";
import { type FolderChild, readFolderPage } from "../../site/observe/etcd-keys.ts";
import type { ConsoleApp } from "../console-app.ts";
import { clamp } from "../state/cursor.ts";
import { BLANK_ROW, buildTreeCells, joinCellTexts, type RowCell } from "../theme/Row.tsx";
import type { Signs } from "../theme/theme.ts";
import { ListFrame, moveInList, useKeys, useOverlay } from "./OverlayFrame.tsx";
import { Prompt } from "./Prompt.tsx";
import { copyBinaryText, RawKeys } from "./RawKeys.tsx";

/** Shows all keys in etcd, or those with a prefix, as a tree. */
export function openKeyBrowser(app: ConsoleApp): void {
  app.overlays.open(<KeyBrowser tree={new KeyTree(app.context, () => app.notifyChange())} />);
}

function KeyBrowser({ tree }: { tree: KeyTree }) {
  const { app, room, close } = useOverlay();
  useEffect(() => {
    tree.start();
    return () => tree.stop();
  }, [tree]);
  const { nodes, place, count, revision, root } = tree;
  const found = nodes.findIndex((one) => getId(one) === place.id);
  const at = found >= 0 ? found : clamp(place.at, 0, nodes.length - 1);
  const node = nodes[at];
  const select = (to: number) => {
    Object.assign(place, { at: to, id: nodes[to] && getId(nodes[to]) });
    app.notifyChange();
  };
  const isCopied = node?.kind === "folder" || node?.kind === "key";
  const open = () => node && openNode(app, tree, node);
  const fold = (isOpen: boolean) => () => {
    if (node?.kind === "folder" && node.isOpen !== isOpen) tree.toggle(node.key);
  };
  const askPrefix = () =>
    app.overlays.open(
      <Prompt
        title="show keys with a prefix"
        note="the beginning of the keys; empty for all"
        start={decodeUtf8(root) ?? ""}
        verb="show"
        onSubmit={(text) => void tree.setRoot(encodeUtf8(text))}
      />,
    );
  useKeys(
    {
      q: close,
      enter: open,
      left: fold(false),
      right: fold(true),
      "/": askPrefix,
      r: () => tree.reread(),
      y: () => isCopied && copyBinaryText(app, node.key, "the key"),
    },
    (chord) => select(moveInList(at, nodes.length, chord)),
  );
  const total = count === undefined ? "" : `, ${pluralize(count, "key")} at revision ${revision}`;
  const { width, height } = room;
  const rows = nodes.map((one) => ({ cells: buildNodeCells(one, app.theme.signs, width) }));
  return (
    <ListFrame
      title={`keys ${root === "" ? "in etcd" : formatKey(root)}${total}`}
      rows={rows}
      cursor={at}
      foot={Array(Math.max(0, height - rows.length)).fill(BLANK_ROW)}
      hints={[
        ["↑↓", "move"],
        node !== undefined && node.kind !== "note" && ["Enter", OPEN_VERBS[node.kind]],
        ["/", "prefix"],
        isCopied && ["y", "copy"],
        ["r", "read again"],
      ]}
      width={width}
      listLines={() => rows.map(({ cells }) => joinCellTexts(cells))}
      onPress={(row) => (row === at ? open() : select(row))}
    />
  );
}

/** What Enter does to a node. */
const OPEN_VERBS = { folder: "unfold", more: "read more", key: "show value" } as const;

function getId({ kind, key }: KeyNode): string {
  return `${kind} ${key}`;
}

/** Opens the folder of a node, reads more of it, or shows the value of its key. */
function openNode(app: ConsoleApp, tree: KeyTree, { kind, key }: KeyNode): void {
  if (kind === "folder") tree.toggle(key);
  if (kind === "more") tree.readMore(key);
  if (kind === "key") app.overlays.open(<RawKeys title={`key ${formatKey(key)}`} ranges={[{ key }]} />);
}

function buildNodeCells(
  { kind, depth, label, note, isOpen }: KeyNode,
  signs: Signs,
  width: number,
): RowCell[] {
  const fold = isOpen === undefined ? " " : isOpen ? signs.open : signs.closed;
  return buildTreeCells(
    [{ text: ` ${"  ".repeat(depth)}${fold} `, role: "quiet" }],
    { text: label, role: kind === "folder" ? "heading" : kind === "key" ? "plain" : "quiet" },
    { text: note, role: "quiet" },
    width,
  );
}

/** A line of the tree. */
interface KeyNode {
  /** `more`: further children of the folder `key`; `note`: why there are none. */
  kind: FolderChild["kind"] | "more" | "note";
  /** A whole key, or the prefix of a folder. */
  key: string;
  depth: number;
  label: string;
  /** Displayed at the right edge. */
  note: string;
  isOpen?: boolean;
}

/** A folder that is shown. */
interface OpenFolder {
  children: readonly FolderChild[];
  count: number | undefined;
  next: string | undefined;
  isReading: boolean;
  fault: string | undefined;
}

/** Number of children that are read at a time. */
const CHILDREN_PER_READ = 200;

/** The keys with a prefix, as a tree of folders, each read when it is opened. Never throws: faults are shown. */
class KeyTree {
  readonly #context: CommandContext;
  readonly #onChange: () => void;
  #stop = new AbortController();
  readonly #open = new Map<string, OpenFolder>();
  #root = "";
  /** The row under the cursor. It is kept here because the component is mounted again after an editor had the terminal. */
  readonly place = { at: 0, id: undefined as string | undefined };
  /** Revision of the last read. */
  revision = 0n;

  constructor(context: CommandContext, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
    this.#stop.abort(new Error("the keys are not shown yet"));
  }

  /** The prefix of all keys that are shown. */
  get root(): string {
    return this.#root;
  }

  /** Reads the open folders, until `stop` is called. */
  start(): void {
    this.#stop = new AbortController();
    if (!this.#open.has(this.#root)) this.#openFolder(this.#root);
    else this.reread();
  }

  stop(): void {
    this.#stop.abort(new Error("the keys are no longer shown"));
  }

  /** Shows the keys with another prefix. */
  setRoot(prefix: string): void {
    this.stop();
    this.#root = prefix;
    this.#open.clear();
    this.start();
  }

  /** The lines from the top. */
  get nodes(): KeyNode[] {
    return this.#listNodes(this.#root, 0);
  }

  /** Number of all keys in the tree, if it is known. */
  get count(): number | undefined {
    return this.#open.get(this.#root)?.count;
  }

  /** Opens or closes a folder. */
  toggle(prefix: string): void {
    if (!this.#open.delete(prefix)) this.#openFolder(prefix);
    this.#onChange();
  }

  #openFolder(prefix: string): void {
    const folder = { children: [], count: undefined, next: undefined, isReading: false, fault: undefined };
    this.#open.set(prefix, folder);
    void this.#read(prefix, undefined, CHILDREN_PER_READ);
  }

  /** Reads further children of a folder. */
  readMore(prefix: string): void {
    const next = this.#open.get(prefix)?.next;
    if (next !== undefined) void this.#read(prefix, next, CHILDREN_PER_READ);
  }

  /** Reads all open folders again. */
  reread(): void {
    for (const [prefix, { children }] of this.#open)
      void this.#read(prefix, undefined, Math.max(CHILDREN_PER_READ, children.length));
  }

  async #read(prefix: string, from: string | undefined, wanted: number): Promise<void> {
    const { signal } = this.#stop;
    const folder = this.#open.get(prefix);
    if (folder === undefined || folder.isReading || signal.aborted) return;
    folder.isReading = true;
    try {
      const page = await readFolderPage(this.#context, prefix, { from, wanted }, signal);
      folder.children = from === undefined ? page.children : [...folder.children, ...page.children];
      if (from === undefined) folder.count = page.count;
      folder.next = page.next;
      folder.fault = undefined;
      this.revision = page.revision;
    } catch (error) {
      if (!signal.aborted) folder.fault = getErrorMessage(error);
    }
    folder.isReading = false;
    this.#onChange();
  }

  #listNodes(prefix: string, depth: number): KeyNode[] {
    const folder = this.#open.get(prefix);
    if (folder === undefined) return [];
    const { children, fault, isReading, next } = folder;
    const build = (kind: "more" | "note", label: string): KeyNode => ({
      kind,
      key: prefix,
      depth,
      label,
      note: "",
    });
    return [
      ...children.flatMap((child) => this.#listChildNodes(prefix, child, depth)),
      ...(fault === undefined ? [] : [build("note", `cannot be read: ${fault}`)]),
      ...(next === undefined || isReading ? [] : [build("more", "more keys follow: Enter reads them")]),
      ...(isReading ? [build("note", "reading")] : []),
      ...(children.length > 0 || isReading || fault !== undefined ? [] : [build("note", "no keys")]),
    ];
  }

  #listChildNodes(prefix: string, child: FolderChild, depth: number): KeyNode[] {
    const { kind, key } = child;
    const label = formatKey(key.slice(prefix.length)) || "(the same name)";
    if (kind === "folder") {
      const folder = this.#open.get(key);
      const count = folder?.count;
      const note = count === undefined ? "" : pluralize(count, "key");
      const node: KeyNode = { kind, key, depth, label, note, isOpen: folder !== undefined };
      return [node, ...this.#listNodes(key, depth + 1)];
    }
    const own = describeOwnKey(this.#context.keys, key);
    const revision = `revision ${child.kv.modRevision}`;
    return [{ kind, key, depth, label, note: own === undefined ? revision : `${own}, ${revision}` }];
  }
}
