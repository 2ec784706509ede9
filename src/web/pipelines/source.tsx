import { get, patch } from '../lib/api.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { useOrganization } from '../settings/organization-of.ts'
import { Form, TextField } from '../ui/forms.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'
import type { Plugin } from './records.ts'

const files = [
  ['index.ts', 14],
  ['plugin.json', 8],
  ['frontend.tsx', 3],
  ['site.ts', 3],
] as const

/** The texts of a plugin that is edited in place. An empty file does not exist. */
export function SourceEditor({ plugin, onSaved }: { plugin: Plugin; onSaved: () => void }) {
  const own = useOrganization()
  const { value, error, reload } = useLoaded(
    (signal) => get<Readonly<Record<string, string>>>(own.api(`plugins/${plugin.id}/source/`), signal),
    [plugin.id],
  )
  const save = async (form: HTMLFormElement) => {
    const data = new FormData(form)
    const texts = files.map(([name]) => [name, String(data.get(name) ?? '').replaceAll('\r\n', '\n')] as const)
    const changed = texts.filter(([name, text]) => text !== (value?.[name] ?? ''))
    await patch(
      own.api(`plugins/${plugin.id}/update_source/`),
      Object.fromEntries(changed.map(([name, text]) => [name, text === '' ? null : text])),
    )
    reload()
    onSaved()
  }
  return (
    <section class="block">
      <h2>Source</h2>
      {error && <ErrorBox error={error} retry={reload} />}
      {!value && !error && <Working what="Reading the source" />}
      {value && (
        <Form submit="Save the source" done="Saved" send={save}>
          {files.map(([name, rows]) => (
            <TextField key={name} name={name} label={name} rows={rows} value={value[name] ?? ''} />
          ))}
        </Form>
      )}
    </section>
  )
}
