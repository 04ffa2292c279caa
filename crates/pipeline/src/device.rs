//! The device on which regression on all rows is computed.

use crate::kernel::AnyKernel;
use nystrom::krr::Device;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A device that a search and its model share, such as a graphics card. A clone is the same device.
///
/// Two of them always count as equal, since the device is no part of a fit's or a model's content.
#[derive(Clone)]
pub struct SharedDevice(Arc<dyn Device<AnyKernel, f64> + Send>);

impl SharedDevice {
    /// Shares this device.
    pub fn new(device: Arc<dyn Device<AnyKernel, f64> + Send>) -> Self {
        SharedDevice(device)
    }
}

impl Deref for SharedDevice {
    type Target = dyn Device<AnyKernel, f64> + Send;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for SharedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedDevice")
    }
}

impl PartialEq for SharedDevice {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
