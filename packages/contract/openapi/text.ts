/** The first page of the reference, in Markdown. */
export const description = `
A payment platform for merchants in West and Central Africa. It collects payments by mobile money and card,
sends payouts to mobile money and bank accounts, keeps a double-entry ledger of both, and tells you what
happened by signed webhooks.

All bodies are JSON in UTF-8. Amounts are integers in the smallest currency unit: \`5000\` is 5,000 F CFA,
because XOF has no smaller unit. Fields that are not known are refused, so a misspelled optional field is
never lost.

More pages: [all error codes](/docs/errors), [verifying webhooks](/docs/webhooks), [sandbox and magic
numbers](/docs/sandbox).

## Environments

There are two, and they share nothing: **sandbox**, where no money moves, and **live**. The key decides which
one you work in. \`Ikw-Environment: sandbox\` or \`live\` is required on the two payout operations and may be
sent everywhere; when it is not the environment of the key, the request is refused. Sandbox and live have
separate webhook endpoints and separate secrets.

## Authentication

Send the key as \`Authorization: Bearer ik_test_…\`. Keys begin with \`ik_test_\` or \`ik_live_\`, app tokens
with \`ik_app_test_\` or \`ik_app_live_\`. A key has scopes such as \`payouts.write\`; every operation names
the one it needs. A key may be bound to addresses and may expire. Keep keys on your server: they are never for
a browser or a mobile app.

## Idempotency

Networks fail between your request and our answer. Send an \`Idempotency-Key\` of your own (1 to 255 visible
ASCII characters, for example your order number) with every write, and repeat the request with the same key
until you have an answer:

| You send | We answer |
|---|---|
| the same key and the same body | the first answer again, with \`Idempotent-Replayed: true\` |
| the same key and another body | 409 \`IKW-REQ-003\`, not retryable |
| the same key while the first request still runs | 409 \`IKW-REQ-004\`, retryable |

A key belongs to one merchant, one environment and one operation. Creating a payout in live requires it.
Refused requests are not kept. Answers are kept for 30 days; that nothing is created twice under one key has
no end.

## Changes

\`PATCH\` changes the fields that it names and leaves the others alone. Null clears a field that may be null; for
others it is refused. An empty text is no value in \`metadata\`. In a change, its keys are added or replaced one by one, a key whose value is null or an
empty text is removed, and null in place of the whole removes all. Send the \`ETag\` of what you have read as
\`If-Match\`, where an operation takes it, and a change is refused when somebody else has made one since.

## Errors

Every refusal is \`application/problem+json\` (RFC 9457) with a stable \`code\`, a \`message\`, and
\`retryable\`, which says whether the same request may succeed later. \`errors\` names every wrong field by
its JSON pointer. Decide by \`code\`, never by the text:

\`\`\`json
{
  "type": "https://…/docs/errors#IKW-REQ-001",
  "title": "Bad Request",
  "status": 400,
  "detail": "amount must be at least 1, not 0",
  "instance": "/api/v1/payouts",
  "code": "IKW-REQ-001",
  "message": "Request is not valid (see errors)",
  "retryable": false,
  "param": "/amount",
  "errors": [{ "pointer": "/amount", "code": "minimum", "message": "must be at least 1, not 0" }],
  "request_id": "req_5f6a7b8c9d0e01932c5e8f2a7b3c9d4e"
}
\`\`\`

A resource of another merchant or of the other environment is 404, as if it were not there.

## Lists

Lists answer \`{object, url, data, has_more, next_cursor}\`, newest first, but for the feed of events and the
history of a resource, which go on from the oldest. Send \`next_cursor\` as \`cursor\` for the next page: pages stay
the same while new items arrive, and a cursor is good for its list only. \`limit\` is 1 to 100. Merchant lists can also
be read by \`page\` and answer \`total_count\`.

## Reading your own writes

Reading one resource is always current. A list is made from read models, which follow the log within
milliseconds. Every write answers the \`Ledger-Position\` that it has reached; send it as \`Min-Position\`
with a list, and the list shows at least that, or answers 503 \`IKW-SYS-004\` with \`Retry-After\`. Without
it, a list waits for what you wrote last through the same process.

## Rate limits

A live key may send 100 requests per second, a sandbox key 25, with bursts above. \`RateLimit\` and
\`X-RateLimit-*\` headers say what is left; above it the answer is 429 with \`Retry-After\`. Requests
without a key, and keys that open nothing, are limited by address.

## Webhooks

Deliveries carry the headers of [Standard Webhooks](https://www.standardwebhooks.com) and, beside them,
\`Ikw-Signature\`. Verify one of the two with the endpoint's secret before you trust a body, refuse what is
older than 300 seconds, and deduplicate by \`webhook-id\`: [code for Node and the shell](/docs/webhooks).
Failed deliveries are retried after 5 minutes, 30 minutes, 2 hours, 8 hours and 24 hours.

## Ids

An id is written as a prefix and 32 hexadecimal digits (\`po_…\`, \`pi_…\`) or as a bare UUID, depending on
the resource. Wherever you send one, both spellings are accepted.

## Versioning

All operations of this page are version 1. Merchant paths without a version (\`/api/merchant/…\`) are the same
operations as \`/api/v1/merchant/…\`; they answer with \`Deprecation: true\` and a \`Link\` to the successor,
and are not listed here. Operations marked \`x-inferred\` go beyond the published specification.
`.trim()
