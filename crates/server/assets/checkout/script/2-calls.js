// Requests to the service. One that may be repeated is repeated until it is answered: a charge carries its key, so that the
// service makes it once.
const PATIENCE = 45_000;
const SLOW = 6_000;

async function once(verb, path, body, headers) {
  const answer = await fetch(path, {
    method: verb,
    headers: {
      "X-Client-Id": session.clientId, "X-Api-Key": session.publicKey,
      ...(body && { "Content-Type": "application/json" }), ...headers,
    },
    body: body && JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
    referrerPolicy: "no-referrer",
    signal: AbortSignal.timeout(PATIENCE),
  });
  const date = Date.parse(answer.headers.get("date"));
  if (date) ahead = date - Date.now();
  const text = await answer.text();
  let told = {};
  try {
    told = JSON.parse(text);
  } catch {
    // An answer of a proxy; its status says enough.
  }
  return { status: answer.status, ok: answer.ok, body: told, retryAfter: Number(answer.headers.get("retry-after")) };
}

// Whether the same request may lead further later.
function isWorthAnother({ status, retryAfter }) {
  if (status === 409 || status === 429) return retryAfter > 0 && retryAfter <= 10;
  return status >= 500;
}

// The answer, or null when there was none in time.
async function call(verb, path, body, headers = {}) {
  const end = Date.now() + PATIENCE;
  const slow = setTimeout(() => tell(texts.slow), SLOW);
  try {
    for (let pause = 700; ; pause = Math.min(pause * 2, 8_000)) {
      let answer = null;
      try {
        answer = await once(verb, path, body, headers);
        if (!isWorthAnother(answer)) return answer;
      } catch {
        // Not reached, or cut off: the next try finds out.
      }
      const until = Math.max(pause, (answer?.retryAfter || 0) * 1000);
      if (Date.now() + until > end) return answer?.status === 429 ? answer : null;
      await wait(until);
    }
  } finally {
    clearTimeout(slow);
  }
}

const post = (path, body, headers) => call("POST", `/v1/sessions/${path}`, body, headers);

// What has become of the session, and of the attempt of this tab.
async function look() {
  const { charge, key } = attempt.read();
  const query = charge ? `?charge=${charge}` : "";
  const answer = await call("GET", `/pay/${session.id}/status${query}`, null, key ? { "X-Idempotency-Key": key } : {});
  return answer?.ok ? answer.body : null;
}
