import type { Picture } from "../picture.ts";
import type { Tone } from "../tables/view.ts";
export class EventLog { list: { at: number; text: string; tone: Tone }[] = []; see(_p: Picture, _wall: number): void {} }
