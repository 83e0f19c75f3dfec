/** Templates of HTML: what is put into them is always text. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { html } from "../../src/page/html.ts";

test("no value becomes markup or leaves its attribute, whatever it contains", () => {
  const sign = fc.constantFrom(..."<>\"'`&=/ aé\u202e\u0000\u001b\n\ud800");
  fc.assert(
    fc.property(fc.array(sign), (signs) => {
      const text = signs.join("");
      const { text: all } = html`<p title="${text}">${[text, html`<b>${text}</b>`]}</p>`;
      const [, title = "", inner = "", bold = ""] =
        /^<p title="([\s\S]*)">([\s\S]*)<b>([\s\S]*)<\/b><\/p>$/.exec(all) ?? [];
      for (const part of [title, inner, bold]) expect(part).toMatch(/^(?:[^<>"'`&\p{C}\u202e]|&[#\w]+;)*$/u);
    }),
  );
});

test("bidi controls are shown, numbers are numbers, and what is missing is left out", () => {
  expect(html`${"a\u202eb"}|${0}|${undefined}|${false}|${[1, "<"]}`.text).toBe("a\\u{202e}b|0|||1&lt;");
});
