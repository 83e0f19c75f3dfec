import fc from "fast-check";

/** Text with much of what can do harm in it. */
export const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 5 }),
      fc.constantFrom(
        "\x1b",
        "[",
        "]",
        "31m",
        "\x07",
        "\x9b",
        "\x9d",
        "\x1b\\",
        "\n",
        "\u202e",
        "\u2066",
        "\u061c",
        "\u200b",
        "\ud800",
        "\udc00",
        "日",
        "👍",
        "e\u0301",
      ),
      fc.string({ maxLength: 5 }),
    ),
  )
  .map((pieces) => pieces.join(""));
