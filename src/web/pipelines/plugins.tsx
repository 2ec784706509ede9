import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { OfferedPluginAnswer, PluginAnswer, PluginConfigAnswer } from '../../doors/answers/plugins.ts'
import { get, type Page, patch, post, remove } from '../lib/api.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { useOrganization } from '../settings/organization-of.ts'
import { ForMembers } from '../ui/for-members.tsx'
import { ConfirmButton, DialogButton, Form, TextField, textOf, useAction } from '../ui/forms.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'
import { PluginsInUse } from './plugins-in-use.tsx'

/** The address of what was typed: a repository, or the name of a package. */
const addressOf = (text: string): string => (/^[a-z]+:\/\//i.test(text) ? text : `https://www.npmjs.com/package/${text}`)

export function PluginsList() {
  const { api, link } = useProject()
  const own = useOrganization()
  const { value, error, reload } = useLoaded(async (signal) => {
    const [configs, plugins, offered] = await Promise.all([
      get<Page<PluginConfigAnswer>>(api('plugin_configs/?limit=1000'), signal),
      get<Page<PluginAnswer>>(own.api('plugins/?limit=1000'), signal),
      get<readonly OfferedPluginAnswer[]>(own.api('plugins/repository/'), signal).catch(() => []),
    ])
    return { configs: configs.results, plugins: plugins.results, offered }
  }, [])
  const { act, isBusy, failure } = useAction()
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading plugins" />
  const configs = [...value.configs].sort((a, b) => a.order - b.order || a.id - b.id)
  const unused = value.plugins.filter(({ id }) => !configs.some(({ plugin }) => plugin === id))
  const offered = value.offered.filter(({ url }) => !value.plugins.some((one) => one.url === url))
  const toggle = (config: PluginConfigAnswer) =>
    act(() =>
      patch(api(`plugin_configs/${config.id}/`), { enabled: !config.enabled }).then(reload, (refusal) => {
        reload()
        throw refusal
      }),
    )
  const move = (at: number, by: number) => {
    const order = configs.map(({ plugin }) => plugin)
    const [moved] = order.splice(at, 1)
    order.splice(at + by, 0, moved!)
    act(() => patch(api('plugin_configs/rearrange/'), { orders: Object.fromEntries(order.map((id, i) => [id, i + 1])) }).then(reload))
  }
  const install = async (body: object) => {
    const made = await post<PluginAnswer>(own.api('plugins/'), body)
    go(linkTo(link(`pipelines/plugins/install/${made.id}`)))
  }
  return (
    <>
      {failure}
      <section class="block">
        <h2>In use</h2>
        {configs.length === 0 && (
          <p class="note">Plugins change events before they are stored, drop them, or send them elsewhere. Choose one below.</p>
        )}
        {configs.length > 0 && <PluginsInUse configs={configs} isBusy={isBusy} onToggle={toggle} onMove={move} />}
      </section>
      {unused.length > 0 && <UnusedPlugins plugins={unused} onRemoved={reload} />}
      <OfferedPlugins offered={offered} isBusy={isBusy} onInstall={(url) => act(() => install({ url }))}>
        <InstallOther install={install} />
      </OfferedPlugins>
    </>
  )
}

interface UnusedProps {
  readonly plugins: readonly PluginAnswer[]
  onRemoved(): void
}

function UnusedPlugins({ plugins, onRemoved }: UnusedProps) {
  const { link } = useProject()
  const own = useOrganization()
  return (
    <section class="block">
      <h2>Installed, not in use here</h2>
      <ul class="cards">
        {plugins.map((plugin) => (
          <li key={plugin.id}>
            <div>
              <h3>{plugin.name ?? `Plugin ${plugin.id}`}</h3>
              <p class="note">{plugin.description}</p>
            </div>
            <ForMembers>
              <div class="row">
                <a href={linkTo(link(`pipelines/plugins/install/${plugin.id}`))}>Configure</a>
                {plugin.organization_id === own.id && !plugin.is_global && (
                  <ConfirmButton
                    isPlain
                    label="Uninstall…"
                    title={`Uninstall ${plugin.name ?? `Plugin ${plugin.id}`}`}
                    submit="Uninstall"
                    action={() => remove(own.api(`plugins/${plugin.id}/`)).then(onRemoved)}
                  >
                    <p>It is removed from all projects of the organization, with its settings.</p>
                  </ConfirmButton>
                )}
              </div>
            </ForMembers>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface OfferedProps {
  readonly offered: readonly OfferedPluginAnswer[]
  readonly isBusy: boolean
  onInstall(url: string): void
  readonly children: ComponentChildren
}

const OfferedPlugins = ({ offered, isBusy, onInstall, children }: OfferedProps) => (
  <section class="block">
    <h2>Offered</h2>
    {offered.length === 0 && <p class="note">All that this server offers is installed.</p>}
    <ul class="cards">
      {offered.map((one) => (
        <li key={one.url}>
          <div>
            <h3>{one.name}</h3>
            <p class="note">{one.description}</p>
          </div>
          <div class="row">
            <ForMembers>
              <button type="button" disabled={isBusy} aria-label={`Install ${one.name}`} onClick={() => onInstall(one.url)}>
                Install
              </button>
            </ForMembers>
            <span class="note">by {one.maintainer}</span>
          </div>
        </li>
      ))}
    </ul>
    <ForMembers>{children}</ForMembers>
  </section>
)

interface InstallProps {
  install(body: object): Promise<void>
}

const InstallOther = ({ install }: InstallProps) => (
  <div class="row">
    <DialogButton label="Install from elsewhere">{() => <InstallForm install={install} />}</DialogButton>
    <DialogButton label="Write a plugin">
      {() => (
        <Form submit="Create" send={(form) => install({ plugin_type: 'source', name: textOf(form, 'name') })}>
          <p>An empty plugin, which you edit here.</p>
          <TextField name="name" label="Name" required maxLength={200} autofocus />
        </Form>
      )}
    </DialogButton>
  </div>
)

function InstallForm({ install }: InstallProps) {
  const [text, setText] = useState('')
  return (
    <Form submit="Install" send={(form) => install({ plugin_type: 'custom', url: addressOf(textOf(form, 'url')) })}>
      <div onInput={(event) => setText((event.target as HTMLInputElement).value.trim())}>
        <TextField
          name="url"
          label="Address of a repository at GitHub or GitLab, or the name of an npm package"
          placeholder="https://github.com/owner/plugin"
          required
          maxLength={800}
          autofocus
        />
      </div>
      {text !== '' && <p class="note">From {addressOf(text)}</p>}
    </Form>
  )
}
