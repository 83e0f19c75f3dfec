import type { AlertNews } from "./alerts.ts";
import {
  formatDesktopNotification,
  formatWindowTitle,
  type NotificationChannels,
  POP_TITLE,
  PUSH_TITLE,
} from "./terminal/notification.ts";

/** Tells the user of changes, even if the terminal is not in view. */
export class AlertNotifier {
  readonly #write: (text: string) => void;
  readonly #channels: NotificationChannels;
  /** What the title names: the cluster. */
  readonly #name: string;
  readonly #sign: string;
  /** Changes since the user has last pressed a key. */
  #unseen = 0;

  constructor(
    write: (text: string) => void,
    { channels, name, sign }: { channels: NotificationChannels; name: string; sign: string },
  ) {
    this.#write = write;
    this.#channels = channels;
    this.#name = name;
    this.#sign = sign;
  }

  notify({ text, changes }: AlertNews): void {
    const { bell, desktop, title } = this.#channels;
    const push = title && this.#unseen === 0 ? PUSH_TITLE : "";
    this.#unseen += changes.length;
    const news = `${this.#sign}${this.#unseen} news - signalbox ${this.#name}`;
    const all = [
      ...(title ? [push, formatWindowTitle(news)] : []),
      ...(desktop ? [formatDesktopNotification(text)] : []),
      ...(bell ? ["\x07"] : []),
    ].join("");
    if (all !== "") this.#write(all);
  }

  /** Restores the title: the user has seen the news, or leaves the console. */
  restoreTitle(): void {
    if (this.#unseen > 0 && this.#channels.title) this.#write(POP_TITLE);
    this.#unseen = 0;
  }
}
