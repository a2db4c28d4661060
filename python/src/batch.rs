//! Many meshes: an iterator of Python over the library's batches.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyException, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyString, PyTuple};
use rayon::ThreadPool;
use trivox::{Mesh, MeshSource};

use crate::core::Plan;
use crate::distance::PyDistanceField;
use crate::error::Failure;
use crate::glue;
use crate::grid::PyGrid;
use crate::job::{self, Job};
use crate::mesh::{PyMesh, Source};

/// What becomes of an item that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// It has the exception as its result.
    Return,
    /// The exception is raised in its turn.
    Raise,
    /// It is left out, and logged.
    Skip,
}

/// What is made of a mesh.
enum Made {
    Grid(PyGrid),
    Field(PyDistanceField),
}

impl Made {
    /// JSON.
    fn report(&self) -> &str {
        match self {
            Self::Grid(grid) => &grid.report,
            Self::Field(field) => &field.report,
        }
    }

    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(match self {
            Self::Grid(grid) => Bound::new(py, grid)?.into_any(),
            Self::Field(field) => Bound::new(py, field)?.into_any(),
        })
    }
}

type Outcome = Result<Made, Failure>;

type KeyAndResult<'py> = (Py<PyAny>, Bound<'py, PyAny>);

/// The results of `Voxelizer.many` and `Voxelizer.many_distances`: an iterator of (key, Grid,
/// DistanceField or exception).
#[pyclass(module = "trivox", name = "_Batch")]
pub struct Batch {
    items: Option<Py<PyIterator>>,
    on_error: OnError,
    /// Items that are taken before the first of them is given.
    most: usize,
    count: usize,
    /// Items without a returned result: the key of each, and its mesh, or the exception of an item
    /// that is no mesh.
    entries: VecDeque<(Py<PyAny>, PyResult<Source>)>,
    /// What the items raised: it is raised after the results of the items before it.
    fault: Option<PyErr>,
    /// Absent when there are no more items.
    sources: Option<Sender<MeshSource<'static>>>,
    /// `Sync`, as Python asks of its objects.
    outcomes: Mutex<Option<Receiver<Outcome>>>,
    /// The outcome that was received last, until it is returned.
    received: Option<Outcome>,
    job: Arc<Job>,
    /// For all results: [`job::pool`] drops a pool that nobody holds.
    _pool: Arc<ThreadPool>,
    /// The process that made it: a forked one has none of its threads.
    process: u32,
}

impl Batch {
    /// Of distances up to `width`; otherwise of grids.
    pub fn new(
        plan: &Plan,
        items: &Bound<'_, PyAny>,
        on_error: OnError,
        width: Option<f32>,
    ) -> PyResult<Self> {
        let is_one = items.is_instance_of::<PyString>()
            || items.is_instance_of::<PyBytes>()
            || items.is_instance_of::<PyMesh>()
            || items.hasattr("__fspath__")?;
        let kind = items.get_type().name()?;
        if is_one {
            let message = format!("many takes an iterable of meshes, not one {kind}: give [item]");
            return Err(PyTypeError::new_err(message));
        }
        if items.is_instance_of::<PyDict>() {
            let message =
                format!("many takes an iterable of meshes, not a {kind}: give its items()");
            return Err(PyTypeError::new_err(message));
        }
        let job = Arc::new(Job::default());
        let items = items.try_iter()?.unbind();
        let (sources, received) = channel::<MeshSource<'static>>();
        let (sender, outcomes) = channel();
        let mut voxelizer = plan.voxelizer(&job)?;
        if let Some(limit) = plan.time_limit {
            voxelizer = voxelizer.time_limit(limit);
        }
        let pool = job::pool(plan.threads)?;
        let inputs = received.into_iter().map(|source| ((), source));
        let plan = plan.clone();
        let made: Box<dyn Iterator<Item = Outcome> + Send> = match width {
            None => {
                let many = voxelizer.many(inputs).map_err(Failure::from)?;
                Box::new(many.map(move |((), result)| Ok(Made::Grid(plan.grid_of(result?)?))))
            }
            Some(width) => {
                let many = voxelizer.many_distances(inputs, width).map_err(Failure::from)?;
                Box::new(many.map(move |((), result)| Ok(Made::Field(plan.field_of(result?)?))))
            }
        };
        // This thread waits for results, so that the caller's thread can look for signals. Sending
        // fails once the batch is gone.
        job::start_thread(move || {
            for outcome in made {
                if sender.send(outcome).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self {
            items: Some(items),
            on_error,
            most: 2 * pool.current_num_threads() + 2,
            count: 0,
            entries: VecDeque::new(),
            fault: None,
            sources: Some(sources),
            outcomes: Mutex::new(Some(outcomes)),
            received: None,
            job,
            _pool: pool,
            process: std::process::id(),
        })
    }

    /// Takes items until enough are under way.
    ///
    /// # Errors
    /// What the items raise, if it must not wait, such as `KeyboardInterrupt`.
    fn take_items(&mut self, py: Python<'_>) -> PyResult<()> {
        while self.entries.len() < self.most {
            let Some(items) = &self.items else { return Ok(()) };
            let item = match items.bind(py).clone().next() {
                Some(Ok(item)) => item,
                other => {
                    self.items = None;
                    self.sources = None;
                    let Some(Err(error)) = other else { return Ok(()) };
                    if !error.is_instance_of::<PyException>(py) {
                        return Err(error);
                    }
                    self.fault = Some(error);
                    return Ok(());
                }
            };
            let (key, source) = match item.cast::<PyTuple>() {
                Ok(pair) if pair.len() == 2 => {
                    let (first, second) = (pair.get_item(0)?, pair.get_item(1)?);
                    match Source::of(&second) {
                        // No mesh: perhaps these are vertices and faces.
                        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                            match Source::of_parts(&first, Some(&second)) {
                                // Arrays of NumPy and lists have no hash: this is a key.
                                Err(other)
                                    if first.hash().is_ok()
                                        || other.is_instance_of::<PyTypeError>(py) =>
                                {
                                    (Some(first), Err(error))
                                }
                                source => (None, source),
                            }
                        }
                        source => (Some(first), source),
                    }
                }
                _ => (None, Source::of(&item)),
            };
            let key = match (key, &source) {
                (Some(key), _) => key,
                (None, Ok(Source::Path(_))) => item,
                (None, _) => self.count.into_pyobject(py)?.into_any(),
            };
            self.count += 1;
            match &source {
                Ok(source) => self.send(source),
                Err(error) if error.is_instance_of::<PyException>(py) => {}
                Err(error) => return Err(error.clone_ref(py)),
            }
            self.entries.push_back((key.unbind(), source));
        }
        Ok(())
    }

    fn send(&self, source: &Source) {
        let source = match source {
            Source::Path(path) => path.clone().into(),
            Source::Mesh(mesh) => Mesh::clone(&mesh.mesh).into(),
        };
        if let Some(sources) = &self.sources {
            // Fails if a thread panicked, which its result says.
            _ = sources.send(source);
        }
    }

    /// Waits for the next outcome, and checks for signals at intervals.
    ///
    /// # Errors
    /// A signal's, such as `KeyboardInterrupt`: the work goes on until the batch is dropped.
    fn wait(&mut self, py: Python<'_>) -> PyResult<Outcome> {
        loop {
            // Also between receiving an outcome and returning it: the exception of a signal that
            // came during the wait would otherwise replace the outcome.
            py.check_signals()?;
            if let Some(outcome) = self.received.take() {
                return Ok(outcome.map_err(|failure| match failure {
                    // Not by the batch: only a deadline is left.
                    Failure::Cancelled => job::late(),
                    other => other,
                }));
            }
            let outcomes = self.outcomes.get_mut().unwrap_or_else(PoisonError::into_inner);
            let Some(receiver) = outcomes.take() else {
                return Ok(Err(Failure::bug("a batch ended early")));
            };
            let (receiver, received) = job::receive(py, receiver);
            (*outcomes, self.received) = (Some(receiver), received);
        }
    }

    /// The batch, for one call of Python's.
    ///
    /// # Errors
    /// A call of another thread, or of the items, is not over.
    fn in_turn<'py>(this: &Bound<'py, Self>) -> PyResult<PyRefMut<'py, Self>> {
        let message = "this iterator is in use: let one thread at a time use it, such as with a \
                       threading.Lock";
        this.try_borrow_mut().map_err(|_| PyRuntimeError::new_err(message))
    }

    fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<KeyAndResult<'py>>> {
        if self.process != std::process::id() {
            let message = format!(
                "this iterator belongs to process {}: call many in the process that uses it",
                self.process
            );
            return Err(PyRuntimeError::new_err(message));
        }
        loop {
            self.take_items(py)?;
            let Some((key, source)) = self.entries.pop_front() else {
                return self.fault.take().map_or(Ok(None), Err);
            };
            let made = match source {
                Ok(source) => match self.wait(py) {
                    Ok(outcome) => outcome.map_err(|failure| source.failure(failure).into()),
                    Err(signal) => {
                        // The entry stays until its outcome arrives.
                        self.entries.push_front((key, Ok(source)));
                        return Err(signal);
                    }
                },
                Err(error) => Err(error),
            };
            let error = match made {
                Ok(made) => {
                    let name = key.bind(py).str()?;
                    glue::log_done(py, &name.to_string_lossy(), made.report())?;
                    return Ok(Some((key, made.into_python(py)?)));
                }
                Err(error) => error,
            };
            if self.on_error == OnError::Raise {
                return Err(error);
            }
            glue::log_failed(py, key.bind(py), &error)?;
            if self.on_error == OnError::Return {
                return Ok(Some((key, error.into_value(py).into_bound(py).into_any())));
            }
        }
    }
}

#[pymethods]
impl Batch {
    /// Ends the batch: the work under way is cancelled, and there are no more results.
    fn close(this: &Bound<'_, Self>) -> PyResult<()> {
        let mut batch = Self::in_turn(this)?;
        batch.job.cancel();
        (batch.items, batch.sources, batch.fault) = (None, None, None);
        batch.entries.clear();
        batch.received = None;
        *batch.outcomes.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(this: &Bound<'_, Self>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        Self::close(this)
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(this: &Bound<'py, Self>) -> PyResult<Option<KeyAndResult<'py>>> {
        Self::in_turn(this)?.next(this.py())
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.job.cancel();
    }
}
