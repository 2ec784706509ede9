import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

// A browser that is installed, and a site to visit with it.

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/lib/chromium/chromium']

/** WAYMARK_CHROMIUM, or where systems put it; null when there is none. */
export const chromiumPath = [process.env.WAYMARK_CHROMIUM, ...places].find((path) => path !== undefined && existsSync(path)) ?? null

/** For what waits while others have the cores. */
export const slowestMs = 120_000

/** `isVisitor`: pages do not see that a program steers it, so libraries count it. */
export const openBrowser = ({ isVisitor = false } = {}): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath!,
    args: ['--no-sandbox', ...(isVisitor ? ['--disable-blink-features=AutomationControlled'] : [])],
    timeout: slowestMs,
  })

export interface Site {
  readonly url: string
  close(): Promise<void>
}

const library = join(import.meta.dirname, 'node_modules/posthog-js/dist/module.mjs')
const isLibraryThere = existsSync(library)

/** Why pages cannot be visited here; null when they can. */
export const missing =
  chromiumPath === null
    ? 'No browser was found. Install Chromium (Debian: apt-get install chromium) or name it in WAYMARK_CHROMIUM.'
    : isLibraryThere
      ? null
      : '`npm run setup:clients` installs posthog-js.'

/** Pages of a shop that send with the browser library to `api`. `options`: more of the library. */
export async function openSite(api: string, key: string, options: object = {}): Promise<Site> {
  const page = (
    title: string,
  ) => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,">
<script type="module">
  import posthog from '/posthog-js.mjs'
  // The library sends nothing for a browser that a program steers, unless told not to look; it waits three seconds for more events, unless told.
  posthog.init(${JSON.stringify(key)}, { api_host: ${JSON.stringify(api)}, opt_out_useragent_filter: true, request_queue_config: { flush_interval_ms: 250 }, ...${JSON.stringify(options)}, loaded: () => { window.isLoaded = true } })
  window.posthog = posthog
</script></head><body><h1>${title}</h1><button id="buy" class="call to-action" data-attr="buy-button">Buy it</button><a href="/next">Next</a></body></html>`
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/'
    const isLibrary = path === '/posthog-js.mjs'
    response.setHeader('content-type', isLibrary ? 'text/javascript' : 'text/html')
    response.end(isLibrary ? await readFile(library) : page(path === '/next' ? 'The next page' : 'A shop'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
