export type Side = 'tables' | 'saved' | 'history'

const sides: readonly { readonly name: Side; readonly title: string }[] = [
  { name: 'tables', title: 'Tables' },
  { name: 'saved', title: 'Saved' },
  { name: 'history', title: 'History' },
]

export const SideTabs = ({ side, onSide }: { side: Side; onSide: (side: Side) => void }) => (
  <div class="tabs" role="tablist" aria-label="Beside the editor">
    {sides.map(({ name, title }) => (
      <button type="button" role="tab" key={name} aria-selected={side === name} onClick={() => onSide(name)}>
        {title}
      </button>
    ))}
  </div>
)
