/** Which redirects are followed, and what the next server gets. */
import { expect, test } from "vitest";
import type { HttpRequest } from "../../../src/worker/handlers/http-handler.ts";
import { buildRedirectedRequest } from "../../../src/worker/handlers/http-handler.ts";

const OWN = { "signalbox-token": "7" };
const POST: HttpRequest = {
  url: new URL("https://a.example/run"),
  method: "POST",
  body: "{}",
  headers: { ...OWN, "content-type": "application/json", authorization: "secret" },
  tls: { ca: "authority", cert: "certificate", key: "private key" },
};

const redirect = (status: number, location: string | undefined, request = POST) => {
  const next = buildRedirectedRequest(request, { status, headers: { location } }, OWN);
  return next && { ...next, url: next.url.href };
};

test.each([
  [200, "/b"],
  [304, "/b"],
  [300, "/b"],
  [302, undefined],
  [302, "http://a.example/"],
  [302, "http://["],
  [302, "file:///etc/passwd"],
  [302, "//"],
  [302, "javascript:alert(1)"],
  [302, "ftp://127.0.0.1/"],
  [302, "data:text/plain,x"],
  [302, "mailto:ops@example.com"],
])("a response %i to %s is not followed", (status, location) => {
  expect(redirect(status, location)).toBeUndefined();
});

test("the same server gets all headers; a GET has no body", () => {
  const { "content-type": _, ...headers } = POST.headers;
  expect(redirect(303, "b?c")).toEqual({
    url: "https://a.example/b?c",
    method: "GET",
    headers,
    body: undefined,
    tls: POST.tls,
  });
  expect(redirect(308, "/b")).toEqual({ ...POST, url: "https://a.example/b" });
});

test.each(["https://b.example/", "https://a.example:8443/", "//b.example/"])(
  "%s gets no configured header, and no certificate",
  (to) => {
    const tls = { ca: "authority" };
    expect(redirect(307, to)).toEqual({ ...POST, url: new URL(to, POST.url).href, headers: OWN, tls });
  },
);

test("from http to https is followed, and a user in the address is not sent", () => {
  const plain = { ...POST, url: new URL("http://a.example/") };
  expect(redirect(302, "https://ann:x@b.example/", plain)).toMatchObject({
    url: "https://b.example/",
    headers: OWN,
  });
});
