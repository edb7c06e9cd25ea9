#include "firn/store/probe.h"

namespace firn::store {

Status ProbeWritable(Store& store, const std::string& folder, const std::string& id) {
  const std::string location = folder + (folder.ends_with('/') ? "" : "/") + ".firn-probe-" + id;
  FIRN_TRY_CTX(store.WriteAll(location, "", IfExists::kFail), "cannot write to " + folder);
  FIRN_TRY_CTX(store.Delete(location), "can write to " + folder + ", but not delete");
  return Ok();
}

}  // namespace firn::store
