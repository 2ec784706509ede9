import type { PluginConfigAnswer } from '../../doors/answers/plugins.ts'
import { shareText } from '../lib/format.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { ForMembers } from '../ui/for-members.tsx'
import { problemText } from './records.ts'

interface Props {
  readonly configs: readonly PluginConfigAnswer[]
  readonly isBusy: boolean
  onToggle(config: PluginConfigAnswer): void
  onMove(at: number, by: number): void
}

export const PluginsInUse = ({ configs, isBusy, onToggle, onMove }: Props) => (
  <div class="scroll" tabIndex={0} role="region" aria-label="Plugins in use">
    <table class="rows">
      <thead>
        <tr>
          <th>Plugin</th>
          <th>State</th>
          <th>Delivered in 24 h</th>
          <th>Order</th>
          <th>
            <span class="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {configs.map((config, i) => (
          <PluginRow
            key={config.id}
            config={config}
            isFirst={i === 0}
            isLast={i === configs.length - 1}
            isBusy={isBusy}
            onToggle={() => onToggle(config)}
            onMove={(by) => onMove(i, by)}
          />
        ))}
      </tbody>
    </table>
  </div>
)

interface RowProps {
  readonly config: PluginConfigAnswer
  readonly isFirst: boolean
  readonly isLast: boolean
  readonly isBusy: boolean
  onToggle(): void
  onMove(by: number): void
}

function PluginRow({ config, isFirst, isLast, isBusy, onToggle, onMove }: RowProps) {
  const { link } = useProject()
  const problem = problemText(config.error)
  const name = config.name ?? `Plugin ${config.plugin}`
  return (
    <tr>
      <td>
        <a href={linkTo(link(`pipelines/plugins/${config.id}`))}>{name}</a>
        {config.description && <p class="note">{config.description}</p>}
      </td>
      <td>
        <span class={`state ${problem ? 'bad' : config.enabled ? 'good' : ''}`}>{problem ? 'error' : config.enabled ? 'on' : 'off'}</span>
        {problem && <p class="field-error">{problem}</p>}
        {config.running_version !== config.code_version && config.running_version !== null && (
          <p class="note">Its code was changed: the new version waits for an administrator.</p>
        )}
      </td>
      <td>{shareText(config.delivery_rate_24h)}</td>
      <td>
        <ForMembers>
          <div class="row">
            <button type="button" class="plain" aria-label={`${name} earlier`} disabled={isFirst || isBusy} onClick={() => onMove(-1)}>
              ↑
            </button>
            <button type="button" class="plain" aria-label={`${name} later`} disabled={isLast || isBusy} onClick={() => onMove(1)}>
              ↓
            </button>
          </div>
        </ForMembers>
      </td>
      <td>
        <ForMembers>
          <button type="button" disabled={isBusy} onClick={onToggle} aria-label={`Switch ${config.enabled ? 'off' : 'on'} ${name}`}>
            {config.enabled ? 'Switch off' : 'Switch on'}
          </button>
        </ForMembers>
      </td>
    </tr>
  )
}
