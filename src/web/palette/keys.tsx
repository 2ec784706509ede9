import { pages } from '../pages/all.ts'
import { Dialog } from '../ui/parts.tsx'
import './palette.css'

const keys: readonly (readonly [where: string, keys: readonly (readonly [keys: string, does: string])[]])[] = [
  [
    'Everywhere',
    [
      ['Ctrl K', 'Commands; insights, dashboards, people, events by their names'],
      ['?', 'These keys'],
      ['Escape', 'Closes a dialog or a list, or takes back what was typed'],
    ],
  ],
  ['Pages', pages.map(({ title, key }) => [`g ${key}`, title])],
  [
    'Charts',
    [
      ['← →', 'From interval to interval, on the map from country to country'],
      ['Enter', 'Lists the people; adds an annotation on the axis'],
      ['Shift ← →', 'Chooses a range; Enter zooms'],
    ],
  ],
  [
    'Names, descriptions, pickers',
    [
      ['Enter', 'Saves, or takes the first find'],
      ['Ctrl Enter', 'Saves a text of several lines'],
    ],
  ],
  [
    'SQL',
    [
      ['Ctrl Enter', 'Runs the statement'],
      ['Ctrl Space', 'Completes names'],
    ],
  ],
]

/** What can be done without the pointer. */
export const Keys = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keys" onClose={onClose}>
    {keys.map(([where, all]) => (
      <section key={where}>
        <h3>{where}</h3>
        <dl class="keys">
          {all.map(([pressed, does]) => (
            <div key={`${pressed} ${does}`}>
              <dt>
                <kbd>{pressed}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </section>
    ))}
  </Dialog>
)
