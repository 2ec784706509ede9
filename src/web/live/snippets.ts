// Ways to send events from a web page, with the key and the address of the server in them. docs/posthog-js.md has the same.

export interface Snippet {
  readonly title: string
  readonly note: string
  readonly code: string
}

/** Queues calls until the library has arrived, which comes with the settings of the project. */
const html = (key: string, host: string) => `<script>
  !(function (page, queue) {
    if (queue.__SV) return
    page.posthog = queue
    queue._i = []
    queue.people = []
    queue.__SV = 1
    'capture identify alias group register register_once unregister reset set_config opt_in_capturing opt_out_capturing captureException'
      .split(' ')
      .forEach(function (name) {
        queue[name] = function () {
          queue.push([name].concat([].slice.call(arguments)))
        }
      })
    queue.init = function (key, options) {
      queue._i.push([key, options])
      var script = page.document.createElement('script')
      script.async = true
      script.crossOrigin = 'anonymous'
      script.src = options.api_host + '/array/' + key + '/array.js'
      page.document.head.appendChild(script)
    }
  })(window, window.posthog || [])
  posthog.init('${key}', { api_host: '${host}', defaults: '2025-05-24' })
</script>`

const indented = (text: string) => text.replace(/^(?=.)/gm, '  ')

export const htmlSnippet = (key: string, host: string): Snippet => ({
  title: 'HTML',
  note: 'Into the head of every page. The library comes from this server.',
  code: html(key, host),
})

export const webSnippets = (key: string, host: string): readonly Snippet[] => [
  htmlSnippet(key, host),
  {
    title: 'React',
    note: 'npm install posthog-js. Components get the library with usePostHog().',
    code: `import posthog from 'posthog-js'
import { PostHogProvider } from 'posthog-js/react'

posthog.init('${key}', { api_host: '${host}', defaults: '2025-05-24' })

createRoot(document.getElementById('root')).render(
  <PostHogProvider client={posthog}>
    <App />
  </PostHogProvider>,
)`,
  },
  {
    title: 'Next.js',
    note: 'npm install posthog-js. The file is instrumentation-client.js, beside the folder app (Next.js 15.3 and later).',
    code: `import posthog from 'posthog-js'

posthog.init('${key}', { api_host: '${host}', defaults: '2025-05-24' })`,
  },
  {
    title: 'WordPress',
    note: 'Into functions.php of the theme, or the part after wp_head into the header of a plugin for code snippets.',
    code: `add_action('wp_head', function () { ?>
${indented(html(key, host))}
<?php });`,
  },
  {
    title: 'A proxy of your server',
    note: "With api_host: '/ingest' instead of the address, events go to your own domain. This is for nginx; the server must trust the proxy (--trusted-proxies), or all visitors have its address.",
    code: `location /ingest/ {
  proxy_pass ${host}/;
  proxy_ssl_server_name on;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
}`,
  },
  {
    title: 'Page views only',
    note: 'One tag of less than 3 kB, without cookies and without anything stored in the browser: page views, links to other sites, and events that you name.',
    code: `<script defer src="${host}/static/waymark.js" data-key="${key}"></script>`,
  },
]
