import { useEffect, useRef, useState } from 'preact/hooks'
import type { PluginAnswer } from '../../doors/answers/plugins.ts'
import { get, patch } from '../lib/api.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { useOrganization } from '../settings/organization-of.ts'
import { Form } from '../ui/forms.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'

const files = ['index.ts', 'plugin.json', 'frontend.tsx', 'site.ts'] as const
type FileName = (typeof files)[number]
type Texts = Readonly<Partial<Record<FileName, string>>>

/** The texts of a plugin that is edited in place. An empty file does not exist. */
export function SourceEditor({ plugin, onSaved }: { plugin: PluginAnswer; onSaved: () => void }) {
  const own = useOrganization()
  const { value, error, reload } = useLoaded((signal) => get<Texts>(own.api(`plugins/${plugin.id}/source/`), signal), [plugin.id])
  const [texts, setTexts] = useState<Texts>({})
  const [file, setFile] = useState<FileName>('index.ts')
  const textOf = (name: FileName) => texts[name] ?? value?.[name] ?? ''
  const changed = files.filter((name) => textOf(name) !== (value?.[name] ?? ''))
  const save = async () => {
    await patch(
      own.api(`plugins/${plugin.id}/update_source/`),
      Object.fromEntries(changed.map((name) => [name, textOf(name) === '' ? null : textOf(name)])),
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
        <>
          <div class="tabs" role="tablist" aria-label="Files">
            {files.map((name) => (
              <button type="button" role="tab" key={name} aria-selected={name === file} onClick={() => setFile(name)}>
                {name}
                {changed.includes(name) && (
                  <span>
                    {' '}
                    •<span class="hidden"> not saved</span>
                  </span>
                )}
              </button>
            ))}
          </div>
          <Form
            submit="Save the source"
            done="Saved"
            send={save}
            note={<span class="note">Escape, then Tab, leaves the editor. A file without text does not exist.</span>}
          >
            <SourceFile
              key={file}
              name={file}
              text={textOf(file)}
              onChange={(text) => setTexts((before) => ({ ...before, [file]: text }))}
            />
          </Form>
        </>
      )}
    </section>
  )
}

function SourceFile({ name, text, onChange }: { name: FileName; text: string; onChange: (text: string) => void }) {
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef(onChange)
  latest.current = onChange
  const [isReady, setReady] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => {
    let end = () => {}
    let isLeft = false
    void import('./source-code.ts').then(({ openSource }) => {
      if (isLeft) return
      const view = openSource(host.current!, name, text, (changed) => latest.current(changed))
      end = () => view.destroy()
      setReady(true)
    }, setError)
    return () => {
      isLeft = true
      end()
    }
  }, [])
  return (
    <>
      {error && <ErrorBox error={new Error(`The editor could not be loaded: ${error.message}`)} retry={() => location.reload()} />}
      <div class="source-host" ref={host} aria-busy={!isReady && !error} />
    </>
  )
}
