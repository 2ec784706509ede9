// The page that clients with MCP apps show in place of a picture: our own drawing of the answer, and a link to its page. It loads nothing.

export const chartAppUri = 'ui://waymark/chart'
const mimeType = 'text/html;profile=mcp-app'

const script = `
const chart = document.getElementById('chart')
const link = document.getElementById('link')
const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
const resize = () => send({ method: 'ui/notifications/size-changed', params: { width: document.body.scrollWidth, height: document.body.scrollHeight } })
let opened = ''
link.addEventListener('click', (event) => {
  event.preventDefault()
  send({ id: 2, method: 'ui/open-link', params: { url: opened } })
})
addEventListener('message', ({ source, data }) => {
  if (source !== parent || !data) return
  if (data.id === 1 && data.result) send({ method: 'ui/notifications/initialized', params: {} })
  if (data.method === 'ui/resource-teardown') send({ id: data.id, result: {} })
  if (data.method !== 'ui/notifications/tool-result') return
  const shown = data.params && data.params._meta && data.params._meta['waymark/chart']
  if (!shown) return
  const parsed = new DOMParser().parseFromString(shown.svg, 'image/svg+xml').documentElement
  chart.replaceChildren(document.importNode(parsed, true))
  opened = shown.page || ''
  link.hidden = opened === ''
  resize()
})
send({ id: 1, method: 'ui/initialize', params: { protocolVersion: '2026-01-26', appInfo: { name: 'waymark-chart', version: '1' }, appCapabilities: {} } })
`

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Chart</title>
<style>body{margin:0;font:13px system-ui,sans-serif;background:#fff}svg{max-width:100%;height:auto;display:block}a{display:inline-block;margin:4px 20px 12px}</style>
<div id="chart"></div>
<a id="link" href="#" hidden>Open in Waymark</a>
<script>${script}</script>
</html>`

export const chartApp = {
  metadata: { title: 'Chart', description: 'The drawing of an answer', mimeType },
  content: { mimeType, text: html },
}
