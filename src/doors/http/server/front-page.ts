import { version } from '../../../lib/version.ts'

// The answer to `GET /`: people with a browser see what this is and where to go; programs get the same as JSON.

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Waymark</title>
<link rel="icon" href="data:,">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; color: #1c2733; background: #fff }
pre { background: #f2f5f8; padding: .8rem 1rem; border-radius: 6px; overflow-x: auto }
code { font: 14px/1.5 ui-monospace, monospace }
@media (prefers-color-scheme: dark) { body { color: #dde5ec; background: #14191f } pre { background: #1e262f } a { color: #8ab8ff } }
</style>
</head>
<body>
<h1>Waymark</h1>
<p>This is a Waymark server, version ${version}: product analytics in one process. It takes events and answers queries over HTTP. Its web interface has not been built: run <code>npm run build</code>.</p>
<h2>Send an event</h2>
<p>With any client library that speaks PostHog's wire format, or with <code>curl</code>. The terminal that started the server shows the project key; <code>waymark projects list</code> shows it again.</p>
<pre><code>curl ORIGIN/capture/ -H 'content-type: application/json' \\
  -d '{"api_key": "PROJECT KEY", "event": "hello", "distinct_id": "me"}'</code></pre>
<h2>Ask a question</h2>
<p>With a personal key, which <code>waymark keys create</code> creates.</p>
<pre><code>curl ORIGIN/api/projects/1/query/ -H 'authorization: Bearer PERSONAL KEY' \\
  -H 'content-type: application/json' \\
  -d '{"query": {"kind": "SqlLikeQuery", "query": "select event, count() from events group by event"}}'</code></pre>
<h2>More</h2>
<ul>
<li><a href="/openapi.json">Description of the HTTP API</a> (OpenAPI 3.1)</li>
<li><a href="/_readyz">Whether the server is ready</a> and <a href="/metrics">its metrics</a></li>
<li>The documents are in the folder <code>docs</code> of the package.</li>
</ul>
</body>
</html>
`

const escaped = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  vary: 'accept',
}

export const frontPage = (request: Request): Response => {
  if (!request.headers.get('accept')?.includes('text/html'))
    return Response.json({ name: 'Waymark', version, api: '/openapi.json', ready: '/_readyz' }, { headers: { vary: 'accept' } })
  return new Response(page.replaceAll('ORIGIN', escaped(new URL(request.url).origin)), { headers })
}
