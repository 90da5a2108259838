import type { Brain } from '../../../core/index.ts';
import { Notebook } from './notebook.ts';
import { investigateSymptom, type PlaybookOptions } from './plan.ts';

export type { PlaybookOptions } from './plan.ts';

/**
 * The embedded expert: deterministic, no key, no network. It works the same six tools the same way a model
 * does, and is the yardstick for models. What it does next depends on the history alone.
 */
export function playbookBrain(options: PlaybookOptions): Brain {
  return {
    name: 'playbook',
    next: async (history) => {
      const first = history.find((turn) => turn.role === 'user');
      const symptom = first?.role === 'user' ? first.text : '';
      const step = new Notebook(history).run((notebook) => investigateSymptom(notebook, symptom, options));
      if ('calls' in step) return { text: step.text, calls: step.calls };
      return { text: step.text, calls: [{ id: 'p_end', name: 'complete_investigation', args: step.end }] };
    },
  };
}
