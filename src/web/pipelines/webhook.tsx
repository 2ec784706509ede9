import type { PluginConfigAnswer } from '../../doors/answers/plugins.ts'
import { post, remove } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { Copied, here } from '../settings/copied.tsx'
import { ConfirmButton, useAction } from '../ui/forms.tsx'

/** The address of an answer begins with a slash if the server does not know its own name. */
const addressOf = (url: string) => here(url.startsWith('/') ? url.slice(1) : url)

const takesRequests = ({ webhook_url, plugin_info }: PluginConfigAnswer) => {
  const { methods = [] } = (plugin_info?.capabilities ?? {}) as { methods?: readonly string[] }
  return webhook_url !== null || methods.includes('onRequest')
}

/** Where other services send requests that the plugin makes events of. */
export function WebhookAddress({ config, reload }: { config: PluginConfigAnswer; reload: () => void }) {
  const { api, mayChange } = useProject()
  const { act, isBusy, failure } = useAction()
  if (!takesRequests(config)) return null
  const path = api(`plugin_configs/${config.id}/webhook/`)
  const replace = () => post<PluginConfigAnswer>(path).then(reload)
  const { webhook_url: url } = config
  return (
    <section class="block">
      <h2>Webhook address</h2>
      {failure}
      {url === null ? (
        <>
          <p>This plugin takes requests of other services. Make an address, and enter it in the settings of the service.</p>
          {mayChange && (
            <button type="button" disabled={isBusy} onClick={() => act(replace)}>
              Make an address
            </button>
          )}
        </>
      ) : (
        <>
          <Copied
            label="Enter it in the settings of the service. Anyone who knows it can send requests to this plugin."
            text={addressOf(url)}
          />
          {!config.enabled && <p class="note">The plugin is switched off: requests are answered with 404.</p>}
          {mayChange && (
            <div class="row">
              <ConfirmButton label="Replace it…" title="Replace the webhook address" submit="Replace" action={replace}>
                <p>The old address ends at once. Enter the new one wherever the old one is in use.</p>
              </ConfirmButton>
              <ConfirmButton
                label="Turn it off…"
                title="Turn the webhook address off"
                submit="Turn off"
                action={() => remove(path).then(reload)}
              >
                <p>Requests to it are answered with 404 at once. An address that is made later is another one.</p>
              </ConfirmButton>
            </div>
          )}
        </>
      )}
    </section>
  )
}
