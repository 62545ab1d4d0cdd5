//! Counts what is allocated.

use std::io;

use cap::Cap;
use peak_alloc::PeakAlloc;

/// One counts what is allocated in total, the other what is held at once.
#[global_allocator]
static ALLOCATOR: Cap<PeakAlloc> = Cap::new(PeakAlloc, usize::MAX);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// The bytes allocated in total, those that were freed again too.
    pub(crate) allocated: usize,
    /// The most bytes held at once, beyond what was held before the run.
    pub(crate) held: usize,
    pub(crate) written: usize,
    /// The nanoseconds of processor time that the thread took, where the system says it. They are printed, and nothing is
    /// compared with them.
    pub(crate) time: usize,
}

/// What is held before a run.
pub(crate) struct Start(usize);

impl Start {
    pub(crate) fn now() -> Self {
        Self(PeakAlloc.current_usage())
    }

    /// Runs a step, and counts what it allocates and writes.
    pub(crate) fn count<T>(&self, step: impl FnOnce(&mut Sink) -> T) -> (T, Cost) {
        PeakAlloc.reset_peak_usage();
        let before = ALLOCATOR.total_allocated();
        let mut sink = Sink(0);
        let started = processor_time();
        let result = step(&mut sink);
        let time = processor_time() - started;
        let cost = Cost {
            allocated: ALLOCATOR.total_allocated() - before,
            held: PeakAlloc.peak_usage().saturating_sub(self.0),
            written: sink.0,
            time,
        };
        (result, cost)
    }
}

/// The nanoseconds of processor time of this thread, as Linux counts them.
fn processor_time() -> usize {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    counted.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or_default()
}

/// Counts what is written to it, and keeps none of it.
pub(crate) struct Sink(usize);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The figures are true: other tests only wait for their processes.
#[test]
fn what_is_allocated_and_held_is_counted() {
    let start = Start::now();
    let (_, cost) = start.count(|sink| {
        use io::Write as _;
        drop(vec![1_u8; 10 << 20]);
        drop(vec![1_u8; 20 << 20]);
        sink.write_all(&[0; 10]).unwrap();
    });
    // Other threads of the test allocate and free a little: they start processes, and print what these say.
    assert!(cost.allocated > 29 << 20 && cost.allocated < 32 << 20, "{cost:?}");
    assert!(cost.held > 19 << 20 && cost.held < 22 << 20, "{cost:?}");
    assert_eq!(cost.written, 10);
}
